//! The names of files in archives: where they may lead.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// What to do about a name that leads elsewhere.
pub(super) const LEADS_OUT: &str = "leads out of the folder";

/// The name under which a file of the user's goes into an archive: without a root and single dots. `None` if it leads
/// upwards.
pub(super) fn stored(path: &Path) -> Option<PathBuf> {
    let mut stored = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => stored.push(name),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    Some(stored)
}

/// The path below a folder of a name in an archive. `None` if it leads out of it: it is absolute, or goes upwards
/// anywhere. It may be empty: the folder itself.
pub(super) fn inside(name: &[u8]) -> Option<PathBuf> {
    let name = Path::new(OsStr::from_bytes(name));
    if name.is_absolute() || name.as_os_str().as_bytes().contains(&0) {
        return None;
    }
    stored(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        for (name, expected) in [
            ("a/b", Some("a/b")),
            ("./a//b/", Some("a/b")),
            ("./", Some("")),
            ("/a", None),
            ("..", None),
            ("a/../b", None),
            ("a/..", None),
            ("a\0b", None),
            ("..a/b..", Some("..a/b..")),
        ] {
            assert_eq!(inside(name.as_bytes()).as_deref(), expected.map(Path::new), "{name}");
        }
        assert_eq!(stored("/a/./b".as_ref()).as_deref(), Some(Path::new("a/b")));
    }
}
