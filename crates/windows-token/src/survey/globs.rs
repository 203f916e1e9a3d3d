//! What patterns match in the places that can be written. Elsewhere a match changes nothing: what cannot be written needs
//! no protection, and reading cannot be denied.

use std::collections::BTreeMap;
use std::os::windows::io::AsHandle as _;

use palisade_policy::{AbsolutePath, PathCase, PathMatcher};

use super::look::SurveyOptions;
use crate::acl::Rights;
use crate::host::{Matches, SecondNames};
use crate::sys::file::{LastName, link_count, open};

/// A walk with a budget, for all patterns at once.
pub(super) struct Walk<'a> {
    globs: Vec<&'a PathMatcher>,
    found: BTreeMap<String, Matches>,
    case: PathCase,
    entries_left: usize,
    max_matches: usize,
    /// Whether second names are looked for, and what was found so far.
    second_names: Option<SecondNames>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        globs: impl IntoIterator<Item = &'a PathMatcher>,
        case: PathCase,
        options: &SurveyOptions,
    ) -> Self {
        let globs: Vec<_> = globs.into_iter().filter(|glob| glob.is_glob()).collect();
        Self {
            found: globs
                .iter()
                .map(|glob| (glob.to_string(), Matches::default()))
                .collect(),
            globs,
            case,
            entries_left: options.max_entries,
            max_matches: options.max_matches,
            second_names: options.second_names.then_some(SecondNames::None),
        }
    }

    /// Looks at a place and below, under the name that the policy has for it. Links are matched, never followed.
    pub(super) fn visit(&mut self, place: &AbsolutePath) {
        let mut pending = vec![place.clone()];
        self.judge(place);
        while let Some(directory) = pending.pop() {
            if self.second_names.is_none() && !self.could_match_below(&directory) {
                continue;
            }
            let entries = match std::fs::read_dir(directory.as_path()) {
                Ok(entries) => entries,
                Err(error) if super::locate::is_missing(&error) => continue,
                Err(_) => {
                    self.give_up(&directory);
                    continue;
                }
            };
            for entry in entries {
                let Some(left) = self.entries_left.checked_sub(1) else {
                    self.give_up(&directory);
                    for other in &pending {
                        self.give_up(other);
                    }
                    return;
                };
                self.entries_left = left;
                let Ok(entry) = entry else {
                    self.give_up(&directory);
                    break;
                };
                let Ok(path) = AbsolutePath::new(entry.path()) else {
                    self.give_up(&directory);
                    continue;
                };
                self.judge(&path);
                // A junction is a link here, too.
                let kind = entry.file_type().ok();
                if kind.is_some_and(|kind| kind.is_dir()) {
                    pending.push(path);
                } else if kind.is_some_and(|kind| kind.is_file()) {
                    self.count_names(&path);
                }
            }
        }
    }

    pub(super) fn finish(self) -> (BTreeMap<String, Matches>, SecondNames) {
        (self.found, self.second_names.unwrap_or_default())
    }

    fn count_names(&mut self, path: &AbsolutePath) {
        let Some(seen) = &mut self.second_names else {
            return;
        };
        let count = open(path.as_path(), Rights::READ_ATTRIBUTES, LastName::Itself)
            .and_then(|file| link_count(file.as_handle()));
        *seen = match (std::mem::take(seen), count) {
            (SecondNames::Found { count, example }, Ok(2..)) => SecondNames::Found {
                count: count + 1,
                example,
            },
            (SecondNames::None | SecondNames::Unknown, Ok(2..)) => SecondNames::Found {
                count: 1,
                example: path.clone(),
            },
            // One that cannot be looked at may be such a file.
            (SecondNames::None, Err(_)) => SecondNames::Unknown,
            (seen, _) => seen,
        };
    }

    fn judge(&mut self, path: &AbsolutePath) {
        for glob in &self.globs {
            if glob.specificity(path, self.case) != Some(path.depth()) {
                continue;
            }
            let Some(matches) = self.found.get_mut(&glob.to_string()) else {
                continue;
            };
            match matches.found.len() < self.max_matches {
                true => matches.found.push(path.clone()),
                false => matches.truncated = true,
            }
        }
    }

    fn could_match_below(&self, directory: &AbsolutePath) -> bool {
        self.globs
            .iter()
            .any(|glob| glob.may_match_below(directory, self.case))
    }

    /// There may be more here than was seen.
    fn give_up(&mut self, directory: &AbsolutePath) {
        if self.second_names == Some(SecondNames::None) {
            self.second_names = Some(SecondNames::Unknown);
        }
        for glob in &self.globs {
            if glob.may_match_below(directory, self.case)
                && let Some(matches) = self.found.get_mut(&glob.to_string())
            {
                matches.truncated = true;
            }
        }
    }
}
