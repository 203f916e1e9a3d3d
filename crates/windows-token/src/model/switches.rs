//! What nobody has documented about the check, as switches: a claim must hold however they stand.

use crate::acl::Rights;

/// One answer to every open question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Switches {
    /// Which rights are writing.
    pub write_type: WriteType,
    /// How an owner is checked.
    pub owner: OwnerCheck,
    /// What becomes of a request for reading and writing.
    pub mixed: MixedRequest,
}

/// Which rights a token that is restricted for writing is checked a second time for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new answer is a new question")]
pub enum WriteType {
    /// Only what `GENERIC_WRITE` means for a file and reading does not.
    Narrow,
    /// Also `DELETE`, `WRITE_DAC` and `WRITE_OWNER`. Published observations fit this: without `DELETE` in the entry of
    /// the capability nothing can be deleted (openai/codex#31138), and whoever has `FILE_DELETE_CHILD` on a directory
    /// for himself deletes what it holds, restricted or not (openai/codex#32915). `WRITE_DAC` and `WRITE_OWNER` nobody
    /// has tried.
    Wide,
    /// Also `FILE_DELETE_CHILD`: what one would wish for.
    Widest,
}

/// When an owner has the rights of an owner although the token is restricted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new answer is a new question")]
pub enum OwnerCheck {
    /// If the owner is among both the identifiers and the restricting ones, for both passes (Forshaw, *Windows Security
    /// Internals*, chapter 7).
    BothLists,
    /// In each pass for itself.
    EachPass,
}

/// What the second pass of a token that is restricted for writing asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new answer is a new question")]
pub enum MixedRequest {
    /// Everything that was asked for, if any of it is writing (Forshaw, the same).
    Whole,
    /// Only what is writing.
    WritePart,
}

impl Switches {
    /// What published observations fit best.
    pub const PUBLISHED: Self = Self {
        write_type: WriteType::Wide,
        owner: OwnerCheck::BothLists,
        mixed: MixedRequest::Whole,
    };

    /// The same with this answer for what writing is.
    #[must_use]
    pub const fn with_write_type(self, write_type: WriteType) -> Self {
        Self { write_type, ..self }
    }

    /// Every combination.
    pub fn all() -> impl Iterator<Item = Self> {
        [WriteType::Narrow, WriteType::Wide, WriteType::Widest]
            .into_iter()
            .flat_map(Self::all_with)
    }

    /// Every combination with this answer for what writing is.
    pub fn all_with(write_type: WriteType) -> impl Iterator<Item = Self> {
        [OwnerCheck::BothLists, OwnerCheck::EachPass]
            .into_iter()
            .flat_map(move |owner| {
                [MixedRequest::Whole, MixedRequest::WritePart]
                    .into_iter()
                    .map(move |mixed| Self {
                        write_type,
                        owner,
                        mixed,
                    })
            })
    }
}

impl WriteType {
    /// The rights.
    #[must_use]
    pub fn rights(self) -> Rights {
        let narrow = Rights::FILE_WRITE & !(Rights::FILE_READ | Rights::FILE_EXECUTE);
        let wide = narrow | Rights::DELETE | Rights::WRITE_DAC | Rights::WRITE_OWNER;
        match self {
            Self::Narrow => narrow,
            Self::Wide => wide,
            Self::Widest => wide | Rights::DELETE_CHILD,
        }
    }
}
