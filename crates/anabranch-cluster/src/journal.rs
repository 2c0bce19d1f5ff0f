//! How far a program has come, so that it goes on there when it is started again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cluster::Cluster;
use crate::error::Error;

/// The beginning of each slot.
const MAGIC: [u8; 8] = *b"abjrnl1\n";

/// The two slots are this far from each other, in bytes, so that no write that is cut off harms both.
const SLOT: usize = 4096;

/// The used bytes of a slot: the magic number, three numbers and their checksum.
const USED: usize = 40;

/// A file that says how many results the sink of a program has stored for good.
///
/// A program that is killed and started again goes on behind the last [`commit`](Self::commit). Its stages
/// [`resume`](crate::Function::resume) there: they skip what was stored, and call nothing for it.
///
/// ```
/// use anabranch::Stream;
/// use anabranch_cluster::{Cluster, Functions, prelude::*};
/// use std::fs::File;
/// use std::io::{Seek, SeekFrom, Write};
///
/// # let folder = tempfile::tempdir()?;
/// # let (output, journal) = (folder.path().join("squares"), folder.path().join("journal"));
/// let functions = Functions::new("arithmetic", "1.0").function("square", |n: u64| n.checked_mul(n).ok_or(()));
/// let cluster = Cluster::local();
/// let journal = cluster.journal(journal)?;
/// let square = cluster.function::<u64, u64, ()>(&functions, "square")?.resume(&journal);
///
/// // What was written behind the last commit is written again.
/// let mut file = File::options().create(true).write(true).open(output)?;
/// file.set_len(journal.mark())?;
/// file.seek(SeekFrom::End(0))?;
///
/// let mut stored = journal.delivered();
/// Stream::from_iter(0..100)
///     .map_remote(&square)
///     .map_err(|error| std::io::Error::other(format!("{error:?}")))
///     .try_for_each(|square| {
///         writeln!(file, "{square}")?;
///         stored += 1;
///         if stored % 10 == 0 {
///             file.sync_data()?;
///             journal.commit(stored, file.stream_position()?)?;
///         }
///         Ok(())
///     })?;
/// assert_eq!(journal.delivered(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What is promised
/// The sink of a program that is started again gets the results from number [`delivered`](Self::delivered) on, in the order of the
/// items. A commit that has returned is kept, also if the machine loses its power. One that was cut off is kept or not, and nothing
/// between.
///
/// # What the program must do
/// - Its source gives the same items in the same order each time.
/// - Its sink makes the results durable before it commits them, for example by `sync_data`.
/// - When it starts, it undoes what the sink has stored behind the last commit, for example by cutting the file at
///   [`mark`](Self::mark). Then each result is stored once. A sink for which it does no harm to get a result twice need not.
#[derive(Debug, Clone)]
pub struct Journal {
    shared: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    file: File,
    record: Record,
}

/// What a slot says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Record {
    /// The number of the commit. The slot is this number modulo 2.
    number: u64,
    delivered: u64,
    mark: u64,
}

impl Record {
    fn to_bytes(self) -> [u8; USED] {
        let mut bytes = [0; USED];
        bytes[..8].copy_from_slice(&MAGIC);
        for (word, number) in bytes[8..32].chunks_exact_mut(8).zip([self.number, self.delivered, self.mark]) {
            word.copy_from_slice(&number.to_le_bytes());
        }
        let sum = checksum(&bytes[..32]);
        bytes[32..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..USED)?;
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let is_whole = bytes[..8] == MAGIC && word(32) == checksum(&bytes[..32]);
        is_whole.then(|| Self { number: word(8), delivered: word(16), mark: word(24) })
    }
}

/// FNV-1a, 64 bits: <http://www.isthe.com/chongo/tech/comp/fnv/>.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Cluster {
    /// Opens a journal, or creates it.
    ///
    /// # Errors
    /// If the file cannot be opened or read, or is something else.
    pub fn journal(&self, path: impl AsRef<Path>) -> Result<Journal, Error> {
        let path = path.as_ref();
        let failed = |error| Error::File { path: path.to_owned(), error };
        let (file, bytes) = open(path).map_err(failed)?;
        let slots = [0, SLOT].map(|at| Record::from_bytes(bytes.get(at..).unwrap_or_default()));
        let record = slots.into_iter().flatten().max_by_key(|record| record.number);
        // The first commit may have been cut off.
        let is_new =
            bytes.len() <= USED && bytes.iter().zip(MAGIC).all(|(byte, magic)| [magic, 0].contains(byte));
        if record.is_none() && !is_new {
            let message = "this file is not a journal, and it is not changed".to_owned();
            return Err(Error::Journal { path: path.to_owned(), message });
        }
        let state = State { file, record: record.unwrap_or_default() };
        Ok(Journal { shared: Arc::new(Mutex::new(state)) })
    }
}

/// Opens a file so that it is there after a loss of power, and reads it.
fn open(path: &Path) -> io::Result<(File, Vec<u8>)> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    let mut bytes = Vec::new();
    // Only the beginning of another file is looked at.
    (&file).take(2 * SLOT as u64).read_to_end(&mut bytes)?;
    if bytes.is_empty() && cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.map_or_else(|| PathBuf::from("."), Path::to_owned))?.sync_all()?;
    }
    Ok((file, bytes))
}

impl Journal {
    /// How many results the sink has stored.
    pub fn delivered(&self) -> u64 {
        self.state().record.delivered
    }

    /// The number that the sink has given with the last commit, or 0.
    pub fn mark(&self) -> u64 {
        self.state().record.mark
    }

    /// Says that the sink has stored so many results, counted from the first item of the source. `mark` is a number for the sink,
    /// such as the length of its file. The commit is on the disk when the call returns.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// If fewer results than before are said to be stored.
    pub fn commit(&self, delivered: u64, mark: u64) -> io::Result<()> {
        let mut state = self.state();
        let before = state.record;
        assert!(
            delivered >= before.delivered,
            "{delivered} results cannot be stored where {} were",
            before.delivered
        );
        let record = Record { number: before.number + 1, delivered, mark };
        let at = (record.number % 2) * SLOT as u64;
        state.file.seek(SeekFrom::Start(at))?;
        state.file.write_all(&record.to_bytes())?;
        state.file.sync_data()?;
        state.record = record;
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_that_was_cut_off_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let open = || Cluster::local().journal(&path).unwrap();
        for (delivered, mark) in [(3, 30), (5, 50), (8, 80)] {
            open().commit(delivered, mark).unwrap();
        }
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(Record::from_bytes(&whole[SLOT..]), Some(Record { number: 3, delivered: 8, mark: 80 }));
        for cut in 0..USED {
            let mut bytes = whole.clone();
            bytes[SLOT + cut..].fill(0);
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!((open().delivered(), open().mark()), (5, 50), "cut at {cut}");
        }
    }

    #[test]
    fn another_file_is_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        std::fs::write(&path, "my notes").unwrap();
        let error = Cluster::local().journal(&path).unwrap_err();
        assert!(
            error.to_string().ends_with("notes: this file is not a journal, and it is not changed"),
            "{error}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"my notes");
    }
}
