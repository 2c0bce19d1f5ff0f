//! Installation of links under the names of other tools.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::TOOLS;
use crate::command::messages::problem::Problem;
use crate::command::messages::stdout::print;

/// Creates a link to this program in `folder` for each name of a tool, and prints them. Creates `folder` if it does
/// not exist. An existing file that is not such a link stays.
pub(crate) fn install(folder: &Path) -> Vec<Problem> {
    let program = match std::env::current_exe().and_then(|program| program.canonicalize()) {
        Ok(program) => program,
        Err(error) => return vec![Problem::of_file("abz", "cannot be found", &error)],
    };
    if let Err(error) = fs::create_dir_all(folder) {
        return vec![Problem::of_file(folder.display(), "cannot be created", &error)];
    }
    let names = TOOLS.iter().flat_map(|tool| tool.names.iter().map(|(name, _)| *name));
    names.filter_map(|name| link(&program, &folder.join(name)).err()).collect()
}

fn link(program: &Path, link: &Path) -> Result<(), Problem> {
    let cannot = |error: io::Error| Problem::of_file(link.display(), "cannot be created", &error);
    match fs::read_link(link) {
        Ok(target) if target == program => {
            return print(|out| writeln!(out, "{} exists already", link.display()));
        }
        // A link to another abz is replaced.
        Ok(target) if target.file_name() == program.file_name() => fs::remove_file(link).map_err(cannot)?,
        Ok(_) => return Err(taken(link)),
        Err(_) if fs::symlink_metadata(link).is_ok() => return Err(taken(link)),
        Err(_) => {}
    }
    symlink(program, link).map_err(cannot)?;
    print(|out| writeln!(out, "{} -> {}", link.display(), program.display()))
}

fn taken(link: &Path) -> Problem {
    Problem::error(
        link.display(),
        "exists, and is not a link to abz -- not overwritten (remove it, or name another folder)",
    )
}
