//! Real data: a folder that `measure/applications/data.sh` has filled.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Picture;

/// The variable of the environment that names the folder. The suite sets it for the processes of variants.
pub const VARIABLE: &str = "SUITE_DATA";

/// The data that no folder has.
pub const GENERATED: &str = "generated";

/// Text in a natural language.
pub(crate) const TEXT: &str = "text";
/// The source code of programs.
pub(crate) const SOURCE: &str = "source";
/// Images of discs.
pub(crate) const IMAGE: &str = "image.iso";
/// Videos and photographs, which are compressed already.
pub(crate) const MEDIA: &str = "media";
/// Reads of a sequencer in the format FASTQ.
pub(crate) const READS: &str = "reads.fastq";
/// OpenCV's detector of faces.
pub(crate) const FACE: &str = "haarcascade_frontalface_alt.xml";
/// OpenCV's detector of eyes.
pub(crate) const EYE: &str = "haarcascade_eye.xml";
/// Photographs of anything.
pub(crate) const PHOTOGRAPHS: &str = "photographs";
/// Photographs with no face.
pub(crate) const NO_FACE: &str = "faces/none";
/// Photographs with one face.
pub(crate) const ONE_FACE: &str = "faces/one";
/// Photographs with several faces.
pub(crate) const SEVERAL_FACES: &str = "faces/several";

const FILES: [&str; 7] = [TEXT, SOURCE, IMAGE, MEDIA, READS, FACE, EYE];

/// The folders of photographs.
pub const PICTURES: [&str; 4] = [PHOTOGRAPHS, NO_FACE, ONE_FACE, SEVERAL_FACES];

/// The folder with the decoded photographs of all folders.
pub const PIXELS: &str = "pixels";

/// The file with the names and the versions of the packages.
const PACKAGES: &str = "packages";

/// A folder of real data. It notes what was read of it.
#[derive(Debug)]
pub struct Data {
    folder: PathBuf,
    read: RefCell<Vec<&'static str>>,
}

impl Data {
    /// The data of a folder, whose files are not looked at yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), read: RefCell::default() }
    }

    /// The data of the folder that [`VARIABLE`] names, if it names one.
    pub fn of_environment() -> Option<Self> {
        std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(Self::new)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was read of the folder, or [`GENERATED`] if nothing was.
    pub fn used(&self) -> String {
        let read = self.read.borrow();
        if read.is_empty() { GENERATED.into() } else { read.join(", ") }
    }

    /// The SHA-256 of all files, as its first 16 hexadecimal digits, and the packages they are from.
    ///
    /// # Errors
    /// If a file is missing, is empty or cannot be read.
    pub fn identity(&self) -> Result<String, String> {
        let mut names: Vec<String> = FILES.map(String::from).to_vec();
        for folder in PICTURES {
            names.extend(self.files(folder, "jpg")?.into_iter().map(|name| format!("{folder}/{name}")));
        }
        let mut hash = Sha256::new();
        for name in names {
            let bytes = self.whole(&name)?;
            // The length separates a name from its content, and files from one another.
            hash.update(format!("{name} {} ", bytes.len()));
            hash.update(&bytes);
        }
        let digits: String = hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let packages = fs::read_to_string(self.folder.join(PACKAGES)).unwrap_or_default();
        let packages = packages.lines().collect::<Vec<_>>().join(", ");
        Ok(if packages.is_empty() { digits } else { format!("{digits} ({packages})") })
    }

    /// The names of the files of a folder that have this extension, in their order. There is at least one.
    ///
    /// # Errors
    /// If the folder cannot be read or has no such file.
    pub fn files(&self, folder: &str, extension: &str) -> Result<Vec<String>, String> {
        let path = self.folder.join(folder);
        let entries = fs::read_dir(&path).map_err(|error| problem(&path, &error.to_string()))?;
        let mut names: Vec<String> = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| problem(&path, &error.to_string()))?;
            let name = entry.file_name().into_string().unwrap_or_default();
            if Path::new(&name).extension().is_some_and(|of_file| of_file == extension) {
                names.push(name);
            }
        }
        if names.is_empty() {
            return Err(problem(&path, &format!("it has no file *.{extension}")));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// So many bytes of a file. If it is shorter, they are read from its beginning again.
    pub(crate) fn bytes(&self, name: &'static str, length: usize) -> Result<Vec<u8>, String> {
        let path = self.folder.join(name);
        let mut bytes = Vec::with_capacity(length);
        let file = File::open(&path).map_err(|error| problem(&path, &error.to_string()))?;
        file.take(length as u64)
            .read_to_end(&mut bytes)
            .map_err(|error| problem(&path, &error.to_string()))?;
        if bytes.is_empty() {
            return Err(problem(&path, "it is empty"));
        }
        let there = bytes.len();
        while bytes.len() < length {
            bytes.extend_from_within(..there.min(length - bytes.len()));
        }
        self.note(name);
        Ok(bytes)
    }

    /// A file of text.
    pub(crate) fn text(&self, name: &'static str) -> Result<String, String> {
        let text = String::from_utf8(self.whole(name)?);
        self.note(name);
        text.map_err(|_| problem(&self.folder.join(name), "it is not text in UTF-8"))
    }

    /// Up to so many photographs of a folder, each as `make` makes it. Only one whole photograph is in memory at a time.
    pub(crate) fn pictures<T>(
        &self,
        folder: &'static str,
        most: usize,
        mut make: impl FnMut(&Picture) -> T,
    ) -> Result<Vec<T>, String> {
        let decoded = format!("{PIXELS}/{folder}");
        let mut made = Vec::new();
        for name in self.files(&decoded, "ppm")?.iter().take(most) {
            let name = format!("{decoded}/{name}");
            let picture = Picture::parse(&self.whole(&name)?)
                .ok_or_else(|| problem(&self.folder.join(&name), "it is not a whole pixmap; remove it"))?;
            made.push(make(&picture));
        }
        self.note(folder);
        Ok(made)
    }

    fn whole(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.join(name);
        match fs::read(&path) {
            Ok(bytes) if bytes.is_empty() => Err(problem(&path, "it is empty")),
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(problem(&path, &error.to_string())),
        }
    }

    /// A message about a file, which says what to do.
    pub(crate) fn problem(&self, name: &str, what: &str) -> String {
        problem(&self.folder.join(name), what)
    }

    fn note(&self, name: &'static str) {
        let mut read = self.read.borrow_mut();
        if !read.contains(&name) {
            read.push(name);
        }
    }
}

/// A message that names the file, and says what to do.
fn problem(path: &Path, what: &str) -> String {
    format!(
        "{}: {what}; `sh measure/applications/data.sh DIR` fills a folder for --data, and without --data the data are generated",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Data) {
        let folder = tempfile::tempdir().unwrap();
        for name in PICTURES {
            fs::create_dir_all(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("a.jpg"), "a picture").unwrap();
        }
        for name in FILES {
            fs::write(folder.path().join(name), format!("{name}!")).unwrap();
        }
        let data = Data::new(folder.path());
        (folder, data)
    }

    #[test]
    fn a_file_that_is_too_short_is_read_again() {
        let (_folder, data) = folder();
        assert_eq!(data.used(), GENERATED);
        assert_eq!(data.bytes(TEXT, 12).unwrap(), b"text!text!te");
        assert_eq!(data.bytes(TEXT, 2).unwrap(), b"te");
        data.bytes(MEDIA, 1).unwrap();
        assert_eq!(data.used(), "text, media");
    }

    #[test]
    fn other_content_and_other_names_have_another_identity() {
        let (folder, data) = folder();
        let at = |name: &str| folder.path().join(name);
        let mut all = vec![data.identity().unwrap()];
        fs::write(at("media"), "media?").unwrap();
        all.push(data.identity().unwrap());
        fs::rename(at("faces/one/a.jpg"), at("faces/one/b.jpg")).unwrap();
        all.push(data.identity().unwrap());
        fs::write(at("packages"), "one 1.0\ntwo 2.0\n").unwrap();
        all.push(data.identity().unwrap());
        assert!(all[3].ends_with(" (one 1.0, two 2.0)") && all[3].starts_with(&all[2]), "{all:?}");
        assert!(all[0] != all[1] && all[1] != all[2] && all[0].len() == 16, "{all:?}");
    }

    #[test]
    fn a_message_names_the_file_and_says_what_to_do() {
        let (folder, data) = folder();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("source"), "").unwrap();
        fs::remove_file(at("text")).unwrap();
        fs::remove_file(at("photographs/a.jpg")).unwrap();
        fs::create_dir_all(at("pixels/faces/none")).unwrap();
        fs::write(at("pixels/faces/none/a.ppm"), "P6 2 2 255 abc").unwrap();
        for (message, of) in [
            (data.bytes(TEXT, 1).unwrap_err(), "text: "),
            (data.bytes(SOURCE, 1).unwrap_err(), "source: it is empty"),
            (data.identity().unwrap_err(), "photographs: it has no file *.jpg"),
            (data.pictures(ONE_FACE, 1, Picture::clone).unwrap_err(), "pixels/faces/one: "),
            (data.pictures(NO_FACE, 1, Picture::clone).unwrap_err(), "none/a.ppm: it is not a whole pixmap"),
        ] {
            assert!(
                message.contains(of) && message.contains("sh measure/applications/data.sh DIR"),
                "{message}"
            );
        }
    }
}
