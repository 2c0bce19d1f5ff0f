//! How far a program has come, so that it goes on there when it is started again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;

/// The beginning of a slot, and that of a slot of the form without a key.
const MAGIC: [u8; 8] = *b"abjrnl2\n";
const OLD_MAGIC: [u8; 8] = *b"abjrnl1\n";

/// The two slots are this far from each other, in bytes, so that no write that is cut off harms both.
const SLOT: usize = 4096;

/// The used bytes of a slot: the magic number, four numbers and their checksum. The last of the four is not in the old form.
const USED: usize = 48;
const OLD_USED: usize = 40;

/// A file that says how many results the sink of a program has stored for good.
///
/// A program that is killed and started again goes on behind the last [`commit`](Self::commit). Its stages
/// [`resume`](crate::Function::resume) there: they skip what was stored, and call nothing for it.
///
/// ```
/// use anabranch::Stream;
/// use anabranch_cluster::{Cluster, Functions, Named, prelude::*};
/// use std::fs::File;
/// use std::io::{Seek, SeekFrom, Write};
///
/// const SQUARE: Named<u64, u64, ()> = Named::new("square");
///
/// # let folder = tempfile::tempdir()?;
/// # let (output, journal) = (folder.path().join("squares"), folder.path().join("journal"));
/// let functions = Functions::new("arithmetic", "1.0").function(SQUARE, |n| n.checked_mul(n).ok_or(()));
/// let cluster = Cluster::local();
/// let journal = cluster.journal(journal, "the squares of 0 to 99")?;
/// let square = cluster.function(&functions, SQUARE)?.resume(&journal);
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
    /// It is locked while the journal is open.
    file: File,
    /// The checksum of the key.
    key: u64,
    record: Record,
}

/// The content of a slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Record {
    /// The number of the commit. The slot is this number modulo 2.
    number: u64,
    delivered: u64,
    mark: u64,
    /// The checksum of the key. `None` in the old form.
    key: Option<u64>,
}

impl Record {
    fn to_bytes(self, key: u64) -> [u8; USED] {
        let mut bytes = [0; USED];
        bytes[..8].copy_from_slice(&MAGIC);
        for (word, number) in
            bytes[8..40].chunks_exact_mut(8).zip([self.number, self.delivered, self.mark, key])
        {
            word.copy_from_slice(&number.to_le_bytes());
        }
        let sum = checksum(&bytes[..40]);
        bytes[40..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let is_old = bytes.starts_with(&OLD_MAGIC);
        let used = if is_old { OLD_USED } else { USED };
        let bytes = bytes.get(..used)?;
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let is_whole =
            (is_old || bytes.starts_with(&MAGIC)) && word(used - 8) == checksum(&bytes[..used - 8]);
        let key = (!is_old).then(|| word(32));
        is_whole.then(|| Self { number: word(8), delivered: word(16), mark: word(24), key })
    }
}

/// FNV-1a, 64 bits: <http://www.isthe.com/chongo/tech/comp/fnv/>.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Journal {
    /// Opens the file: see [`Cluster::journal`](crate::Cluster::journal).
    pub(crate) fn open(path: &Path, key: &[u8]) -> Result<Self, Error> {
        let key = checksum(key);
        let failed = |error| Error::File { path: path.to_owned(), error };
        let wrong = |message: &str| Error::Journal { path: path.to_owned(), message: message.to_owned() };
        let (file, bytes) = match open(path).map_err(failed)? {
            Some(opened) => opened,
            None => return Err(wrong("another program has this journal open")),
        };
        let slots = [0, SLOT].map(|at| Record::from_bytes(bytes.get(at..).unwrap_or_default()));
        let record = slots.into_iter().flatten().max_by_key(|record| record.number);
        if record.is_some_and(|record| record.key.is_some_and(|other| other != key)) {
            return Err(wrong(
                "this journal was created with another key, so it is that of another computation: use its key, or another file",
            ));
        }
        // The first commit may have been cut off.
        let is_new =
            bytes.len() <= USED && bytes.iter().zip(MAGIC).all(|(byte, magic)| [magic, 0].contains(byte));
        if record.is_none() && !is_new {
            return Err(wrong("this file is not a journal, and it is not changed"));
        }
        let mut state = State { file, key, record: record.unwrap_or_default() };
        if record.is_none() {
            // The key is in the file from now on.
            state.write(0, 0).map_err(failed)?;
        }
        Ok(Journal { shared: Arc::new(Mutex::new(state)) })
    }
}

/// Opens a file for this program alone so that it is there after a loss of power, and reads it. `None` if another program has it open.
fn open(path: &Path) -> io::Result<Option<(File, Vec<u8>)>> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 0);
    let file = options.open(path)?;
    #[cfg(unix)]
    match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let mut bytes = Vec::new();
    // Only the beginning of another file is looked at.
    (&file).take(2 * SLOT as u64).read_to_end(&mut bytes)?;
    if bytes.is_empty() && cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.map_or_else(|| PathBuf::from("."), Path::to_owned))?.sync_all()?;
    }
    Ok(Some((file, bytes)))
}

impl State {
    /// Writes a record. It is on the disk when this returns.
    fn write(&mut self, delivered: u64, mark: u64) -> io::Result<()> {
        let record = Record { number: self.record.number + 1, delivered, mark, key: Some(self.key) };
        let at = (record.number % 2) * SLOT as u64;
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(&record.to_bytes(self.key))?;
        self.file.sync_data()?;
        self.record = record;
        Ok(())
    }
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
        state.write(delivered, mark)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Cluster;

    fn folder_with(name: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        (folder, path)
    }

    #[test]
    fn a_commit_that_was_cut_off_leaves_the_one_before() {
        let (_folder, path) = folder_with("journal");
        let open = || Cluster::local().journal(&path, "a key").unwrap();
        for (delivered, mark) in [(3, 30), (5, 50), (8, 80), (9, 90)] {
            open().commit(delivered, mark).unwrap();
        }
        let whole = std::fs::read(&path).unwrap();
        let last = Record { number: 5, delivered: 9, mark: 90, key: Some(checksum(b"a key")) };
        assert_eq!(Record::from_bytes(&whole[SLOT..]), Some(last));
        for cut in 0..USED {
            let mut bytes = whole.clone();
            bytes[SLOT + cut..].fill(0);
            std::fs::write(&path, &bytes).unwrap();
            let journal = open();
            assert_eq!((journal.delivered(), journal.mark()), (8, 80), "cut at {cut}");
        }
    }

    #[test]
    fn another_file_is_refused_and_kept() {
        let (_folder, path) = folder_with("notes");
        std::fs::write(&path, "my notes").unwrap();
        let error = Cluster::local().journal(&path, "a key").unwrap_err();
        assert!(
            error.to_string().ends_with("notes: this file is not a journal, and it is not changed"),
            "{error}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"my notes");
    }

    #[test]
    fn another_key_and_another_program_are_refused() {
        let (_folder, path) = folder_with("journal");
        let open = |key: &str| Cluster::local().journal(&path, key);
        let journal = open("one").unwrap();
        let error = open("one").unwrap_err();
        assert!(error.to_string().ends_with("another program has this journal open"), "{error}");
        drop(journal);
        // Also before the first commit.
        for commits in [0, 4] {
            for delivered in 0..commits {
                open("one").unwrap().commit(delivered, 0).unwrap();
            }
            let error = open("other").unwrap_err();
            assert!(error.to_string().contains("created with another key"), "{error}");
        }
    }

    #[test]
    fn a_journal_without_a_key_is_read_and_gets_one() {
        let (_folder, path) = folder_with("journal");
        // The form of earlier versions: the 5th commit.
        let mut slot = OLD_MAGIC.to_vec();
        [5_u64, 70, 700].iter().for_each(|number| slot.extend_from_slice(&number.to_le_bytes()));
        slot.extend_from_slice(&checksum(&slot).to_le_bytes());
        std::fs::write(&path, [&[0; SLOT][..], &slot].concat()).unwrap();
        let open = |key: &str| Cluster::local().journal(&path, key);
        let journal = open("mine").unwrap();
        assert_eq!((journal.delivered(), journal.mark()), (70, 700));
        journal.commit(71, 710).unwrap();
        drop(journal);
        assert!(open("other").is_err());
        let journal = open("mine").unwrap();
        assert_eq!((journal.delivered(), journal.mark()), (71, 710));
    }
}
