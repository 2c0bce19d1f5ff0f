//! The names of members: conversion from and to paths that stay within a folder.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// The problem of a name that leads out of the folder.
pub(super) const LEADS_OUT: &str = "leads out of the folder";

/// Returns the name under which a file is stored: without the root and `.` components. Returns `None` if the path
/// contains `..`.
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

/// Returns the relative path for a member's name. Returns `None` if the name is absolute or contains `..` or a zero
/// byte. The path is empty for the folder itself.
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
