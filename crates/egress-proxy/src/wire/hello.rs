//! How TLS begins: the ClientHello, over as many records as it takes, and whether another one follows.

use super::cursor::Cursor;

const HANDSHAKE: u8 = 22;
const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const APPLICATION_DATA: u8 = 23;
const CLIENT_HELLO: u8 = 1;
/// Of one record, without its header.
const MOST_RECORD: usize = 1 << 14;
const SERVER_NAME: u16 = 0;
const EARLY_DATA: u16 = 42;

/// What a client says first, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientHello {
    /// The host that is meant, as written.
    pub server_name: Option<String>,
    /// Whether another name is hidden inside, or might be.
    pub is_encrypted: bool,
    /// How many bytes it takes on the wire, records and all.
    pub length: usize,
}

/// Why this is no beginning of TLS that can be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HelloProblem {
    /// A record that does not belong there.
    #[error("a record that is no part of a ClientHello")]
    Record,
    /// Longer than allowed.
    #[error("the ClientHello is too long")]
    TooLong,
    /// A field that does not fit.
    #[error("the ClientHello is malformed: {0}")]
    Malformed(&'static str),
    /// Data before the handshake, behind which another ClientHello could hide.
    #[error("it sends early data; switch that off in the client")]
    EarlyData,
    /// The format of SSL 2, which has no names.
    #[error("it is a hello of SSL 2")]
    Ssl2,
    /// The client closed in the middle of it.
    #[error("it ends in the middle of the ClientHello")]
    Cut,
}

/// Reads the ClientHello at the beginning of a stream, of at most `most` bytes.
///
/// # Errors
/// It is none, or none that every server reads in the same way.
pub fn read_client_hello(bytes: &[u8], most: usize) -> Result<Option<ClientHello>, HelloProblem> {
    let mut stream = Cursor::new(bytes);
    let mut message = Vec::new();
    loop {
        let Some((kind, body)) = record(&mut stream, most)? else {
            return if bytes.len() >= most {
                Err(HelloProblem::TooLong)
            } else {
                Ok(None)
            };
        };
        let used = bytes.len() - stream.left();
        if used > most {
            return Err(HelloProblem::TooLong);
        }
        if kind != HANDSHAKE || body.is_empty() {
            return Err(HelloProblem::Record);
        }
        message.extend_from_slice(body);
        let mut fields = Cursor::new(&message);
        if fields.u8() != Some(CLIENT_HELLO) {
            return Err(HelloProblem::Record);
        }
        let Some([high, middle, low]) = fields.array() else {
            continue;
        };
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        if length > most {
            return Err(HelloProblem::TooLong);
        }
        let Some(hello) = fields.take(length) else {
            continue;
        };
        // What follows in the same record would be read by some and not by others.
        if !fields.is_empty() {
            return Err(HelloProblem::Malformed("something follows in its record"));
        }
        return parse(hello, used).map(Some);
    }
}

/// The next whole record.
fn record<'a>(
    stream: &mut Cursor<'a>,
    most: usize,
) -> Result<Option<(u8, &'a [u8])>, HelloProblem> {
    let mut ahead = *stream;
    let Some([kind, major, _minor, high, low]) = ahead.array() else {
        return Ok(None);
    };
    let length = usize::from(u16::from_be_bytes([high, low]));
    if major != 3 || length > MOST_RECORD {
        return Err(HelloProblem::Record);
    }
    if length > most {
        return Err(HelloProblem::TooLong);
    }
    let Some(body) = ahead.take(length) else {
        return Ok(None);
    };
    *stream = ahead;
    Ok(Some((kind, body)))
}

fn parse(hello: &[u8], length: usize) -> Result<ClientHello, HelloProblem> {
    let malformed = HelloProblem::Malformed;
    let mut fields = Cursor::new(hello);
    let mut fixed = || {
        fields.u16()?;
        fields.take(32)?;
        fields.vector8()?;
        fields.vector16()?;
        fields.vector8()
    };
    fixed().ok_or(malformed("a field is cut off"))?;
    let mut read = ClientHello {
        server_name: None,
        is_encrypted: false,
        length,
    };
    if fields.is_empty() {
        return Ok(read);
    }
    let extensions = fields
        .vector16()
        .ok_or(malformed("extensions are cut off"))?;
    if !fields.is_empty() {
        return Err(malformed("something follows the extensions"));
    }
    let mut extensions = Cursor::new(extensions);
    let mut seen = Vec::new();
    while !extensions.is_empty() {
        let kind = extensions
            .u16()
            .ok_or(malformed("an extension is cut off"))?;
        let data = extensions
            .vector16()
            .ok_or(malformed("an extension is cut off"))?;
        if seen.contains(&kind) {
            return Err(malformed("an extension occurs twice"));
        }
        seen.push(kind);
        match kind {
            SERVER_NAME => read.server_name = Some(server_name(data)?),
            EARLY_DATA => return Err(HelloProblem::EarlyData),
            // Encrypted ClientHello, its drafts, and the encrypted SNI before it.
            0xfe08..=0xfe0d | 0xffce => read.is_encrypted = true,
            _ => {}
        }
    }
    Ok(read)
}

fn server_name(data: &[u8]) -> Result<String, HelloProblem> {
    let only = || {
        let mut data = Cursor::new(data);
        let mut list = Cursor::new(data.vector16()?);
        let kind = list.u8()?;
        let name = list.vector16()?;
        let is_only = data.is_empty() && list.is_empty() && kind == 0;
        is_only.then_some(name)
    };
    let name = only().ok_or(HelloProblem::Malformed("SNI is not one host name"))?;
    match str::from_utf8(name) {
        Ok(name) if name.is_ascii() => Ok(name.to_owned()),
        _ => Err(HelloProblem::Malformed("SNI is not ASCII")),
    }
}

/// What comes after a ClientHello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AfterHello {
    /// Another ClientHello, after this many bytes: the server wanted other parameters.
    Again(usize),
    /// The handshake goes on; what follows is encrypted, or cannot name a host.
    Settled,
}

/// Whether another ClientHello follows the first one, whose bytes are not among these.
///
/// # Errors
/// What follows is not TLS.
pub fn after_client_hello(bytes: &[u8]) -> Result<Option<AfterHello>, HelloProblem> {
    let mut stream = Cursor::new(bytes);
    loop {
        let at = bytes.len() - stream.left();
        let mut ahead = stream;
        let Some([kind, major, _, high, low]) = ahead.array() else {
            return Ok(None);
        };
        if major != 3 {
            return Err(HelloProblem::Record);
        }
        let length = u16::from_be_bytes([high, low]);
        match kind {
            // Sent in between for show; a server skips it.
            CHANGE_CIPHER_SPEC if length == 1 && at < 64 => {
                if ahead.u8().is_none() {
                    return Ok(None);
                }
                stream = ahead;
            }
            ALERT | APPLICATION_DATA => return Ok(Some(AfterHello::Settled)),
            HANDSHAKE => {
                let wanted = usize::from(length.min(2));
                let Some(start) = ahead.take(wanted) else {
                    return Ok(None);
                };
                // A message that is encrypted begins with anything; a ClientHello of 64 KiB does not exist.
                let again = match start {
                    [] => return Err(HelloProblem::Record),
                    [kind] => *kind == CLIENT_HELLO,
                    [kind, high, ..] => *kind == CLIENT_HELLO && (length < 4 || *high == 0),
                };
                return Ok(Some(if again {
                    AfterHello::Again(at)
                } else {
                    AfterHello::Settled
                }));
            }
            _ => return Err(HelloProblem::Record),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const MOST: usize = 32 * 1024;

    fn vector16(data: &[u8]) -> Vec<u8> {
        let mut out = u16::try_from(data.len()).unwrap().to_be_bytes().to_vec();
        out.extend(data);
        out
    }

    fn sni(name: &str) -> (u16, Vec<u8>) {
        let mut entry = vec![0];
        entry.extend(vector16(name.as_bytes()));
        (0, vector16(&entry))
    }

    fn message(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.push(0);
        body.extend(vector16(&[0x13, 0x01]));
        body.extend([1, 0]);
        let mut list = Vec::new();
        for (kind, data) in extensions {
            list.extend(kind.to_be_bytes());
            list.extend(vector16(data));
        }
        body.extend(vector16(&list));
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        let mut out = vec![1, length[1], length[2], length[3]];
        out.extend(body);
        out
    }

    fn records(message: &[u8], size: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for part in message.chunks(size) {
            out.extend([22, 3, 1]);
            out.extend(vector16(part));
        }
        out
    }

    fn name(bytes: &[u8]) -> Option<String> {
        read_client_hello(bytes, MOST).unwrap().unwrap().server_name
    }

    #[test]
    fn the_name_is_found_however_the_hello_is_cut() {
        let message = message(&[(10, vec![0; 9000]), sni("example.com"), (16, vec![1, 2])]);
        for size in [1, 2, 3, 4, 5, 100, 16384] {
            let bytes = records(&message, size);
            if bytes.len() < MOST {
                assert_eq!(name(&bytes).as_deref(), Some("example.com"), "{size}");
            } else {
                assert_eq!(read_client_hello(&bytes, MOST), Err(HelloProblem::TooLong));
            }
        }
        let bytes = records(&message, 1000);
        for end in 0..bytes.len() {
            assert_eq!(read_client_hello(&bytes[..end], MOST), Ok(None), "{end}");
        }
    }

    #[test]
    fn how_long_it_is_does_not_depend_on_what_follows() {
        let mut bytes = records(&message(&[sni("a.test")]), 100);
        let length = bytes.len();
        bytes.extend([20, 3, 3, 0, 1, 1]);
        let hello = read_client_hello(&bytes, MOST).unwrap().unwrap();
        assert_eq!(hello.length, length);
    }

    #[test]
    fn what_hides_or_repeats_a_name_is_seen() {
        let none = read_client_hello(&records(&message(&[]), 100), MOST);
        assert_eq!(none.unwrap().unwrap().server_name, None);
        let hidden = records(&message(&[sni("a.test"), (0xfe0d, vec![0])]), 100);
        assert!(
            read_client_hello(&hidden, MOST)
                .unwrap()
                .unwrap()
                .is_encrypted
        );
        let twice = records(&message(&[sni("a.test"), sni("b.test")]), 100);
        assert!(matches!(
            read_client_hello(&twice, MOST),
            Err(HelloProblem::Malformed(_))
        ));
        let mut two_names = vec![0];
        two_names.extend(vector16(b"a.test"));
        two_names.push(0);
        two_names.extend(vector16(b"b.test"));
        let two = records(&message(&[(0, vector16(&two_names))]), 200);
        assert!(matches!(
            read_client_hello(&two, MOST),
            Err(HelloProblem::Malformed(_))
        ));
        let early = records(&message(&[sni("a.test"), (42, vec![])]), 200);
        assert_eq!(
            read_client_hello(&early, MOST),
            Err(HelloProblem::EarlyData)
        );
        let mut more = message(&[sni("a.test")]);
        more.push(1);
        assert!(read_client_hello(&records(&more, 500), MOST).is_err());
    }

    #[test]
    fn what_is_no_hello_is_refused_at_once() {
        for bytes in [
            &[22, 2, 0, 0, 5][..],
            &[23, 3, 1, 0, 1, 0],
            &[22, 3, 1, 0, 0],
            &[22, 3, 1, 0, 1, 2],
            &[22, 3, 1, 0x40, 1],
        ] {
            assert_eq!(
                read_client_hello(bytes, MOST),
                Err(HelloProblem::Record),
                "{bytes:?}"
            );
        }
        assert_eq!(
            read_client_hello(&[22, 3, 1, 0, 4, 1, 1, 0, 0], MOST),
            Err(HelloProblem::TooLong)
        );
    }

    #[test]
    fn a_second_hello_is_noticed() {
        let second = records(&message(&[sni("b.test")]), 100);
        let mut after_ccs = vec![20, 3, 3, 0, 1, 1];
        after_ccs.extend(&second);
        let again = |at| Ok(Some(AfterHello::Again(at)));
        assert_eq!(after_client_hello(&second), again(0));
        assert_eq!(after_client_hello(&after_ccs), again(6));
        assert_eq!(
            after_client_hello(&records(&second, 1)),
            Ok(Some(AfterHello::Settled))
        );
        // The hello in pieces of one byte.
        assert_eq!(
            after_client_hello(&[22, 3, 3, 0, 1, 1, 22, 3, 3, 0, 1, 0]),
            again(0)
        );
        for settled in [
            // ClientKeyExchange of TLS 1.2, an encrypted record, an alert.
            &[22, 3, 3, 0, 70, 16, 0, 0][..],
            &[20, 3, 3, 0, 1, 1, 23, 3, 3, 0, 50],
            &[21, 3, 3, 0, 2, 2, 40],
        ] {
            assert_eq!(
                after_client_hello(settled),
                Ok(Some(AfterHello::Settled)),
                "{settled:?}"
            );
        }
        assert_eq!(after_client_hello(&[20, 3, 3, 0]), Ok(None));
        assert_eq!(after_client_hello(b"GET / HTTP"), Err(HelloProblem::Record));
    }
}
