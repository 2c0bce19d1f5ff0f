//! Restriction of file access with Landlock (Linux 5.13 and later): only the inputs and the folders of the outputs
//! are accessible. If a hostile file exploits a fault in a decoder, it can neither access other files nor the
//! network.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::one_file::indices::index_of;
use crate::command::output::folder_of;
use crate::command::request::{
    Asked, Decompress, Destination, Explain, Explainable, Reporting, Request, Source, Test,
};

/// The accessible files and folders.
#[derive(Debug, Default)]
pub struct Sandbox {
    /// Files, and folders with everything in them, that may be read.
    readable: BTreeSet<PathBuf>,
    /// Files that may be written, and folders in which files may be created, written and removed.
    writable: BTreeSet<PathBuf>,
    /// Folders and links may be created there too.
    builds: bool,
}

impl Sandbox {
    /// Returns the sandbox for a request, or `None` if it needs full access or the sandbox is disabled.
    pub fn of(asked: &Asked) -> Option<Self> {
        let request = &asked.request;
        if !asked.sandbox || matches!(request, Request::Bench(_)) {
            return None;
        }
        // Ignored signals and available processors are read from here.
        let readable = ["/proc/self", "/sys/fs/cgroup"].map(PathBuf::from);
        let mut sandbox = Sandbox { readable: readable.into(), ..Sandbox::default() };
        let (inputs, outputs) = (request.inputs(), request.outputs());
        let destination = outputs.map(|outputs| &outputs.destination);
        let paths = inputs.sources.iter().filter_map(|source| match source {
            Source::File(path) => Some(path),
            Source::Stdin => None,
        });
        for path in paths.clone() {
            if destination == Some(&Destination::Beside) {
                // A writable folder may be read too. A link may lead elsewhere.
                if fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
                    sandbox.writable.insert(folder_of(path).to_owned());
                    continue;
                }
                sandbox.write_beside(path);
            }
            sandbox.readable.extend(inputs.names.candidates(path));
            if matches!(
                request,
                Request::Access(_) | Request::Decompress(_) | Request::Test(_) | Request::Explain(_)
            ) {
                sandbox.readable.extend(inputs.names.candidates(path).map(|path| index_of(&path)));
            }
        }
        match destination {
            Some(Destination::File(path)) => sandbox.write_to(path),
            Some(Destination::Folder { path: folder, mirrors }) => {
                // A missing folder will be created.
                let here = |folder| if folder == Path::new("") { Path::new(".") } else { folder };
                let is_there = |folder: &&Path| folder.is_dir() || !mirrors;
                let folder = folder.ancestors().map(here).find(is_there).unwrap_or(folder);
                sandbox.writable.insert(folder.to_owned());
                sandbox.builds = *mirrors;
                // Inputs will be removed from their folders.
                if outputs.is_some_and(|outputs| !outputs.keep) {
                    paths.clone().for_each(|path| sandbox.write_beside(path));
                }
            }
            _ => {}
        }
        match request {
            Request::Access(request) => sandbox.readable.extend(request.index_file.clone()),
            Request::Decompress(Decompress { decoding, .. }) | Request::Test(Test { decoding, .. }) => {
                sandbox.readable.extend(decoding.indexing.file.clone());
                if decoding.indexing.made.is_some() {
                    paths.for_each(|path| sandbox.write_beside(path));
                }
            }
            Request::Explain(Explain { of: Explainable::Decompression(_, index_file), .. }) => {
                sandbox.readable.extend(index_file.clone());
            }
            Request::Extract(request) => {
                sandbox.writable.insert(request.folder.clone());
                sandbox.builds = true;
            }
            _ => {}
        }
        if let Some(Reporting { report_file, trace, .. }) = request.reporting() {
            [report_file, trace].into_iter().flatten().for_each(|path| sandbox.write_to(path));
        }
        Some(sandbox)
    }

    /// Allows writing to the folder of a file, or to a folder.
    fn write_beside(&mut self, path: &Path) {
        let is_folder = fs::metadata(path).is_ok_and(|found| found.is_dir());
        self.writable.insert(if is_folder { path.to_owned() } else { folder_of(path).to_owned() });
    }

    /// Allows creating a file, or writing to an existing device or pipe.
    fn write_to(&mut self, path: &Path) {
        let is_there = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        self.writable.insert(if is_there { path.to_owned() } else { folder_of(path).to_owned() });
    }

    /// Restricts this thread and all that it starts. Errors are ignored: the sandbox is only a further line of
    /// defence.
    #[cfg(all(target_os = "linux", not(portable)))]
    pub fn enter(self) {
        use landlock::{
            ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
            RulesetCreatedAttr, RulesetError,
        };

        let reading = AccessFs::ReadFile | AccessFs::ReadDir;
        let building = match self.builds {
            true => AccessFs::MakeDir | AccessFs::RemoveDir | AccessFs::MakeSym | AccessFs::Refer,
            false => BitFlags::empty(),
        };
        let writing =
            AccessFs::WriteFile | AccessFs::Truncate | AccessFs::MakeReg | AccessFs::RemoveFile | building;
        // Missing files need no rule.
        let rules = |paths: BTreeSet<PathBuf>, allowed| {
            let open = |path: PathBuf| Some((path.is_dir(), PathFd::new(path).ok()?));
            paths.into_iter().filter_map(open).map(move |(is_folder, opened)| {
                let of_files = AccessFs::from_file(ABI::V3);
                let allowed = if is_folder { allowed } else { allowed & of_files };
                Ok::<_, RulesetError>(PathBeneath::new(opened, allowed))
            })
        };
        let enter = || -> Result<(), RulesetError> {
            Ruleset::default()
                .handle_access(AccessFs::from_all(ABI::V3))?
                .handle_access(AccessNet::from_all(ABI::V4))?
                .create()?
                .add_rules(rules(self.readable, reading))?
                .add_rules(rules(self.writable, reading | writing))?
                .restrict_self()
                .map(drop)
        };
        let _ = enter();
    }

    /// Does nothing on this system.
    #[cfg(not(all(target_os = "linux", not(portable))))]
    pub fn enter(self) {}
}

#[cfg(all(test, all(target_os = "linux", not(portable))))]
mod tests {
    use std::fs::File;
    use std::io::ErrorKind;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn only_what_is_named_can_be_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for inside in ["read", "write", "other"] {
            fs::create_dir(path(inside)).unwrap();
            fs::write(path(inside).join("x"), "x").unwrap();
        }
        let sandbox = Sandbox {
            readable: [path("read").join("x"), path("missing")].into(),
            writable: [path("write")].into(),
            builds: false,
        };
        // A sandbox cannot be left, so it is entered on a thread.
        let tried = thread::scope(|scope| {
            let inside = || {
                sandbox.enter();
                let denied = |kind: Option<ErrorKind>| kind == Some(ErrorKind::PermissionDenied);
                let read = |path: PathBuf| denied(fs::read(path).err().map(|error| error.kind()));
                let make = |path: PathBuf| denied(File::create(path).err().map(|error| error.kind()));
                let remove = |path: PathBuf| denied(fs::remove_file(path).err().map(|error| error.kind()));
                let listens = TcpListener::bind("127.0.0.1:0").is_ok();
                let allowed = [
                    read(path("read").join("x")),
                    make(path("write").join("y")),
                    remove(path("write").join("x")),
                ];
                let forbidden = [
                    read(path("other").join("x")),
                    make(path("read").join("x")),
                    make(path("other").join("y")),
                    remove(path("read").join("x")),
                    !listens,
                ];
                (allowed, forbidden)
            };
            scope.spawn(inside).join().unwrap()
        });
        if !tried.1[0] {
            println!("this kernel has no Landlock: passed over");
            return;
        }
        // Older kernels restrict files, but not the network.
        assert_eq!((tried.0, &tried.1[..4]), ([false; 3], &[true; 4][..]));
    }
}
