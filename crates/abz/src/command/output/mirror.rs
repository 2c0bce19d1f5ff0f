//! The subfolders of `--output-dir-mirror`.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use crate::command::messages::problem::Problem;

/// Returns the folder below `root` that corresponds to the folder of `file`. Missing folders are created with the
/// permissions of the corresponding ones.
///
/// # Errors
///
/// If the path contains `..`, or a folder cannot be created.
pub(crate) fn folder_for(root: &Path, file: &Path) -> Result<PathBuf, Problem> {
    let components = file.parent().unwrap_or(Path::new("")).components();
    if components.clone().any(|component| component == Component::ParentDir) {
        let message = "has .. in its name, which leads out of the mirrored folders";
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

/// Creates a folder with the permissions of `like`, if it does not exist.
fn make(folder: &Path, like: Option<&Path>) -> Result<(), Problem> {
    let cannot = |error| Problem::of_file(folder.display(), "cannot be created", &error);
    let rights = like.and_then(|like| fs::metadata(like).ok()).map(|found| found.mode() & 0o777);
    match DirBuilder::new().mode(rights.unwrap_or(0o777)).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made.map_err(cannot),
    }
}
