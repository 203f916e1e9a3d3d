//! The words of a refusal, as systems and language runtimes write them.

use std::ops::Range;

/// What kind of refusal a line speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// EROFS: only changes end like this.
    ReadOnly,
    /// EXDEV: nothing is moved to or from a place that is mounted read-only.
    CrossDevice,
    /// EACCES.
    Access,
    /// EPERM.
    NotPermitted,
    /// EBUSY: what is mounted cannot be moved or removed.
    Busy,
    /// ENOENT: what is hidden is not there.
    Missing,
    /// A host that is not found or not reached.
    Network,
}

/// Where a line speaks of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) what: Refusal,
    /// Bytes of the line.
    pub(super) range: Range<usize>,
}

/// In lower case; the first kind that a line has is its kind. The translations are those of the C library, since
/// commands inherit `LANG`.
const TEXTS: &[(Refusal, &[&str])] = &[
    (
        Refusal::ReadOnly,
        &[
            "read-only file system",
            "read-only filesystem",
            // Of curl and of git, which keep the reason to themselves; the command names the path.
            "failure writing output to destination",
            "unable to create temporary object directory",
            "erofs",
            "os error 30",
            "[errno 30]",
            "das dateisystem ist nur lesbar",
            "système de fichiers accessible en lecture seulement",
            "sistema de ficheros de sólo lectura",
            "sistema de archivos de solo lectura",
            "sistema de arquivos somente para leitura",
            "file system in sola lettura",
            "読み込み専用ファイルシステムです",
            "只读文件系统",
            "файловая система доступна только для чтения",
        ],
    ),
    (
        Refusal::Network,
        &[
            "network is unreachable",
            "enetunreach",
            "os error 101",
            "[errno 101]",
            "no route to host",
            "ehostunreach",
            "could not resolve host",
            "couldn't resolve host",
            "could not resolve proxy",
            "unable to resolve host",
            "failed to resolve",
            "temporary failure in name resolution",
            "temporary failure resolving",
            "name or service not known",
            "nodename nor servname",
            "name resolution",
            "nameresolutionerror",
            "failed to lookup address",
            "eai_again",
            "enotfound",
            "unknownhostexception",
            "no such host",
            "dns error",
            "connection refused",
            "econnrefused",
            "couldn't connect to server",
            "could not connect to server",
            "failed to connect to",
            "no address associated with hostname",
        ],
    ),
    (
        Refusal::Access,
        &[
            "permission denied",
            "eacces",
            "os error 13)",
            "[errno 13]",
            "accessdeniedexception",
            "access denied",
            // SQLite's only word for it.
            "unable to open database file",
            "keine berechtigung",
            "permission non accordée",
            "permiso denegado",
            "permissão negada",
            "permesso negato",
            "許可がありません",
            "权限不够",
            "отказано в доступе",
        ],
    ),
    (
        Refusal::NotPermitted,
        &[
            "operation not permitted",
            "eperm",
            "os error 1)",
            "[errno 1]",
            "die operation ist nicht erlaubt",
            "opération non permise",
            "operación no permitida",
            "operação não permitida",
            "operazione non permessa",
            "不允许的操作",
            "операция не позволена",
        ],
    ),
    (
        Refusal::CrossDevice,
        &[
            "invalid cross-device link",
            "exdev",
            "os error 18)",
            "[errno 18]",
        ],
    ),
    (
        Refusal::Busy,
        &[
            "device or resource busy",
            "ebusy",
            "os error 16)",
            "[errno 16]",
        ],
    ),
    (
        Refusal::Missing,
        &[
            "no such file or directory",
            "enoent",
            "os error 2)",
            "[errno 2]",
            "nosuchfileexception",
        ],
    ),
];

/// The refusal that a line speaks of, if it does.
pub(super) fn find(line: &str) -> Option<Refused> {
    let lower = lower(line);
    TEXTS.iter().find_map(|(what, texts)| {
        texts.iter().find_map(|text| {
            let start = lower.match_indices(text).map(|(at, _)| at).find(|at| {
                // Not in the middle of a word, such as a file's name.
                let before = lower
                    .get(..*at)
                    .and_then(|before| before.chars().next_back());
                let after = lower
                    .get(at + text.len()..)
                    .and_then(|after| after.chars().next());
                !before.is_some_and(is_word) && !after.is_some_and(is_word)
            })?;
            Some(Refused {
                what: *what,
                range: start..start + text.len(),
            })
        })
    })
}

const fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '/' | '-')
}

/// Whether a refusal by the system can be one of the network: a sandbox can forbid connecting as such.
pub(super) fn speaks_of_network(line: &str) -> bool {
    let lower = lower(line);
    let refused = find(line)
        .is_some_and(|refused| matches!(refused.what, Refusal::Access | Refusal::NotPermitted));
    refused
        && ["connect", " port ", "dial ", "socket", "sendto"]
            .iter()
            .any(|word| lower.contains(word))
}

/// Lower case, byte for byte: positions stay the same.
pub(super) fn lower(text: &str) -> String {
    text.chars()
        .map(|character| {
            let mut lower = character.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) if one.len_utf8() == character.len_utf8() => one,
                _ => character,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_refusals() {
        let what = |line: &str| find(line).map(|refused| refused.what);
        assert_eq!(what("x: Read-only file system"), Some(Refusal::ReadOnly));
        assert_eq!(what("x (os error 30)"), Some(Refusal::ReadOnly));
        assert_eq!(
            what("Error: EACCES: permission denied"),
            Some(Refusal::Access)
        );
        assert_eq!(
            what("touch: 'x': Keine Berechtigung"),
            Some(Refusal::Access)
        );
        assert_eq!(what("(os error 1)"), Some(Refusal::NotPermitted));
        assert_eq!(what("(os error 17)"), None);
        assert_eq!(what("/srv/app/EPERM-notes.txt"), None);
        assert_eq!(what("all is well"), None);
    }

    #[test]
    fn every_text_is_found_as_it_is_written() {
        for (what, texts) in TEXTS {
            for text in *texts {
                assert_eq!(lower(text), **text);
                assert!(find(text).is_some(), "{what:?} {text}");
            }
        }
    }
}
