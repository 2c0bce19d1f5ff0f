//! Finds the library and its headers, in the folder of this program or in the folders of its installation.

use std::path::{Path, PathBuf};

/// The files with which a program is compiled and linked.
#[derive(Debug)]
pub struct Library {
    /// The folder of the headers.
    pub headers: PathBuf,
    /// The static library.
    pub archive: PathBuf,
}

/// Finds the library. If the headers are not installed, they are written to a folder in `scratch`.
///
/// # Errors
/// A message with the folders that were searched, if the library is in none of them.
pub fn library(scratch: &Path) -> Result<Library, String> {
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let program = program.map_err(|error| format!("cannot find the folder of this program: {error}"))?;
    let beside = program.parent().unwrap_or(Path::new("."));
    let prefix = beside.parent().unwrap_or(Path::new("."));
    let archives = [
        // Cargo builds this one together with the program. One beside the program may be older.
        beside.join("deps/libanabranch_c.a"),
        beside.join("libanabranch_c.a"),
        prefix.join("lib/libanabranch.a"),
        beside.join("libanabranch.a"),
    ];
    let Some(archive) = archives.iter().find(|archive| archive.is_file()) else {
        let searched: Vec<String> =
            archives.iter().map(|archive| format!("\n  {}", archive.display())).collect();
        return Err(format!(
            "the library of Anabranch is not there; build it with `cargo build --release -p sparxx`. Searched:{}",
            searched.concat()
        ));
    };
    // These are the headers with which this program was built.
    let headers = scratch.join("include");
    for (name, text) in anabranch_c::install::HEADERS {
        let path = headers.join(name);
        let folder = path.parent().unwrap_or(&headers);
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(Library { headers, archive: archive.clone() })
}

/// Creates a link `spar++` to this program in a folder.
///
/// # Errors
/// A message, if the link cannot be created.
pub fn install_links(folder: &Path) -> Result<(), String> {
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let program = program.map_err(|error| format!("cannot find this program: {error}"))?;
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let link = folder.join("spar++");
    if let Err(error) = std::fs::remove_file(&link)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(format!("cannot replace {}: {error}", link.display()));
    }
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(&program, &link);
    #[cfg(not(unix))]
    let made = std::fs::copy(&program, &link).map(drop);
    made.map_err(|error| format!("cannot make {}: {error}", link.display()))?;
    println!("{} -> {}", link.display(), program.display());
    Ok(())
}
