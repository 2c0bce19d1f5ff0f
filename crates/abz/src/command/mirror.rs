//! Folders like those in which inputs lie, below another one.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use super::problem::Problem;

/// The folder below `root` that stands for the one in which `file` lies. What is missing of it is made, with the rights of the
/// folder that it stands for.
///
/// # Errors
///
/// If a name leads upwards, or a folder cannot be made.
pub(super) fn folder_for(root: &Path, file: &Path) -> Result<PathBuf, Problem> {
    let components = file.parent().unwrap_or(Path::new("")).components();
    if components.clone().any(|component| component == Component::ParentDir) {
        let message = "has .. in its name, which leads out of the folders that are mirrored";
        return Err(Problem::error(file.display(), message));
    }
    let (mut folder, mut like) = (root.to_owned(), PathBuf::new());
    make(&folder, None)?;
    for component in components {
        like.push(component);
        if let Component::Normal(name) = component {
            folder.push(name);
            make(&folder, Some(&like))?;
        }
    }
    Ok(folder)
}

/// Makes a folder, if there is none, with the rights of the one that it is like.
fn make(folder: &Path, like: Option<&Path>) -> Result<(), Problem> {
    let cannot = |error| Problem::of_file(folder.display(), "cannot be made", &error);
    let rights = like.and_then(|like| fs::metadata(like).ok()).map(|found| found.mode() & 0o777);
    match DirBuilder::new().mode(rights.unwrap_or(0o777)).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made.map_err(cannot),
    }
}
