//! Installs the library: its headers, its static and shared form, a CMake package and a `pkg-config` file.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The version of the library. Its first two numbers identify the interface.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The headers: their paths in the folder for headers, and their contents.
pub const HEADERS: &[(&str, &str)] = &[
    ("anabranch.h", include_str!("../include/anabranch.h")),
    ("anabranch.hpp", include_str!("../include/anabranch.hpp")),
    ("anabranch/detail.hpp", include_str!("../include/anabranch/detail.hpp")),
    ("anabranch/observe.hpp", include_str!("../include/anabranch/observe.hpp")),
    ("anabranch/recycler.hpp", include_str!("../include/anabranch/recycler.hpp")),
    ("anabranch/spar.hpp", include_str!("../include/anabranch/spar.hpp")),
];

/// The libraries of the system that a program with the static library must link.
pub const SYSTEM_LIBRARIES: &[&str] = &["-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];

/// Makes the linker remove code of the static library that a program does not use, which makes the program a third as
/// large.
const UNUSED: &str = "-Wl,--gc-sections";

/// The folders of an installation.
#[derive(Debug, Clone)]
pub struct Installation {
    /// The folder with `libanabranch_c.a` and `libanabranch_c.so`. Cargo leaves them in a folder `deps` of it when it
    /// builds a program of this crate; those in `deps` are as new as the program, so they come first.
    pub built: PathBuf,
    /// The folder that gets `include`, `lib` and so on.
    pub prefix: PathBuf,
}

impl Installation {
    /// Installs everything, and returns the paths of the files.
    ///
    /// # Errors
    /// An error with the path of the file, if a library is missing or a file cannot be written.
    pub fn install(&self) -> io::Result<Vec<PathBuf>> {
        let soname = soname();
        let shared = format!("libanabranch.so.{VERSION}");
        let mut written = Vec::new();
        for (name, text) in HEADERS {
            written.push(self.write(Path::new("include").join(name), text)?);
        }
        written.push(self.copy("libanabranch_c.a", "libanabranch.a")?);
        written.push(self.copy("libanabranch_c.so", &shared)?);
        written.push(self.link(&shared, &soname)?);
        written.push(self.link(&soname, "libanabranch.so")?);
        written.push(self.write("lib/pkgconfig/anabranch.pc".into(), &pkg_config())?);
        written.push(self.write("lib/cmake/anabranch/anabranch-config.cmake".into(), &cmake())?);
        written
            .push(self.write("lib/cmake/anabranch/anabranch-config-version.cmake".into(), &cmake_version())?);
        Ok(written)
    }

    fn write(&self, at: PathBuf, text: &str) -> io::Result<PathBuf> {
        let path = self.place(&at)?;
        fs::write(&path, text).map_err(|error| told("write", &path, &error))?;
        Ok(path)
    }

    fn copy(&self, from: &str, to: &str) -> io::Result<PathBuf> {
        let folders = [self.built.join("deps"), self.built.clone()];
        let found = folders.iter().map(|folder| folder.join(from)).find(|file| file.is_file());
        let from = found.ok_or_else(|| {
            let text = format!(
                "{from} is not in {} and not in its folder `deps`: build it with `cargo build --release -p capi`",
                self.built.display()
            );
            io::Error::new(io::ErrorKind::NotFound, text)
        })?;
        let path = self.place(&Path::new("lib").join(to))?;
        fs::copy(&from, &path).map_err(|error| told("copy", &from, &error))?;
        Ok(path)
    }

    fn link(&self, to: &str, name: &str) -> io::Result<PathBuf> {
        let path = self.place(&Path::new("lib").join(name))?;
        #[cfg(unix)]
        std::os::unix::fs::symlink(to, &path).map_err(|error| told("link", &path, &error))?;
        #[cfg(not(unix))]
        fs::copy(self.prefix.join("lib").join(to), &path).map_err(|error| told("copy", &path, &error))?;
        Ok(path)
    }

    /// Prepares a path in the prefix: creates its folder, and removes an old file. Returns the full path.
    fn place(&self, at: &Path) -> io::Result<PathBuf> {
        let path = self.prefix.join(at);
        let folder = path.parent().unwrap_or(&self.prefix);
        fs::create_dir_all(folder).map_err(|error| told("make", folder, &error))?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(told("replace", &path, &error)),
            _ => Ok(path),
        }
    }
}

fn told(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {what} {}: {error}", path.display()))
}

/// Returns the name by which programs load the shared library. It changes with the interface.
fn soname() -> String {
    let major = VERSION.split('.').next().unwrap_or("0");
    format!("libanabranch.so.{major}")
}

fn pkg_config() -> String {
    format!(
        "prefix=${{pcfiledir}}/../..\n\
         includedir=${{prefix}}/include\n\
         libdir=${{prefix}}/lib\n\
         \n\
         Name: anabranch\n\
         Description: Runs a streaming loop on all cores and gives exactly what the loop would have given\n\
         Version: {VERSION}\n\
         Cflags: -I${{includedir}}\n\
         Libs: -L${{libdir}} -lanabranch\n\
         Libs.private: {UNUSED} {}\n",
        SYSTEM_LIBRARIES.join(" ")
    )
}

fn cmake() -> String {
    let system: Vec<&str> =
        SYSTEM_LIBRARIES.iter().filter_map(|library| library.strip_prefix("-l")).collect();
    format!(
        "# Targets: anabranch::anabranch, the shared library, and anabranch::static.\n\
         get_filename_component(ANABRANCH_PREFIX \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n\
         if(NOT TARGET anabranch::anabranch)\n\
         \x20 add_library(anabranch::anabranch SHARED IMPORTED)\n\
         \x20 set_target_properties(anabranch::anabranch PROPERTIES\n\
         \x20   IMPORTED_LOCATION \"${{ANABRANCH_PREFIX}}/lib/libanabranch.so\"\n\
         \x20   INTERFACE_INCLUDE_DIRECTORIES \"${{ANABRANCH_PREFIX}}/include\")\n\
         \x20 add_library(anabranch::static STATIC IMPORTED)\n\
         \x20 set_target_properties(anabranch::static PROPERTIES\n\
         \x20   IMPORTED_LOCATION \"${{ANABRANCH_PREFIX}}/lib/libanabranch.a\"\n\
         \x20   INTERFACE_INCLUDE_DIRECTORIES \"${{ANABRANCH_PREFIX}}/include\"\n\
         \x20   INTERFACE_LINK_OPTIONS \"{UNUSED}\"\n\
         \x20   INTERFACE_LINK_LIBRARIES \"{}\")\n\
         endif()\n",
        system.join(";")
    )
}

fn cmake_version() -> String {
    let interface = VERSION.rsplit_once('.').map_or(VERSION, |(interface, _)| interface);
    format!(
        "set(PACKAGE_VERSION \"{VERSION}\")\n\
         if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION AND PACKAGE_FIND_VERSION VERSION_GREATER_EQUAL \"{interface}\")\n\
         \x20 set(PACKAGE_VERSION_COMPATIBLE TRUE)\n\
         endif()\n\
         if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n\
         \x20 set(PACKAGE_VERSION_EXACT TRUE)\n\
         endif()\n"
    )
}
