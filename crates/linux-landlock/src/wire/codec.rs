//! A small binary form for plain data. Numbers are little-endian; sequences have their length in front.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use palisade_policy::AbsolutePath;

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// What can travel.
pub(crate) trait Wire: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed>;

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }

    /// Reads a value that fills the bytes exactly.
    fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader(bytes);
        let value = Self::take(&mut reader)?;
        if reader.0.is_empty() {
            Ok(value)
        } else {
            Err(Malformed)
        }
    }
}

/// Bytes that have not been read yet.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Wire for $number {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
                let bytes = reader.bytes(size_of::<Self>())?;
                bytes.try_into().map(Self::from_le_bytes).map_err(|_| Malformed)
            }
        }
    )*};
}

numbers!(u8, u16, u32, i32, u64);

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        match u8::take(reader)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    // A length over 32 bits cannot travel; nothing that the kernel accepts is that long.
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).put(out);
    out.extend_from_slice(bytes);
}

fn take_bytes<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Malformed> {
    let length = u32::take(reader)?;
    reader.bytes(usize::try_from(length).map_err(|_| Malformed)?)
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Self::from_utf8(take_bytes(reader)?.to_vec()).map_err(|_| Malformed)
    }
}

impl Wire for OsString {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        take_bytes(reader).map(|bytes| Self::from_vec(bytes.to_vec()))
    }
}

impl Wire for AbsolutePath {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_path().as_os_str().as_bytes(), out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Self::new(OsString::take(reader)?).map_err(|_| Malformed)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        bool::take(reader)?.then(|| T::take(reader)).transpose()
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok((A::take(reader)?, B::take(reader)?))
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        u32::try_from(self.len()).unwrap_or(u32::MAX).put(out);
        for item in self {
            item.put(out);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let length = u32::take(reader)?;
        // No capacity is taken from the length: a false one costs nothing but an error.
        let mut items = Self::new();
        for _ in 0..length {
            items.push(T::take(reader)?);
        }
        Ok(items)
    }
}

/// Implements [`Wire`] for a struct: its fields in the given order.
macro_rules! wire_struct {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl $crate::wire::Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::wire::Wire::put(&self.$field, out);)*
            }

            fn take(reader: &mut $crate::wire::Reader<'_>) -> Result<Self, $crate::wire::Malformed> {
                Ok(Self { $($field: $crate::wire::Wire::take(reader)?),* })
            }
        }
    };
}
pub(crate) use wire_struct;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Vec::<(OsString, Option<AbsolutePath>)>::from_bytes(&bytes);
            let _ = Vec::<(String, u64)>::from_bytes(&bytes);
        }

        #[test]
        fn what_is_put_is_taken(names in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9), 0..9)) {
            let value: Vec<OsString> = names.into_iter().map(OsString::from_vec).collect();
            prop_assert_eq!(Vec::from_bytes(&value.to_bytes()), Ok(value));
        }
    }

    #[test]
    fn bytes_left_over_are_an_error() {
        assert_eq!(u16::from_bytes(&[1, 2, 3]), Err(Malformed));
        assert_eq!(u16::from_bytes(&[1]), Err(Malformed));
    }
}
