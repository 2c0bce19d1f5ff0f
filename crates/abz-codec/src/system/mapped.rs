//! Parts of files, through memory: they are copied from or to a mapping that lasts for the call.
//!
//! Only copies are handed out, and never a reference to mapped memory: what others write to the file meanwhile changes
//! no slice of this process. It may show in what is copied, as with a read.
//!
//! A mapping ends where its file ends. If the file is made shorter during a call, the system ends the process with
//! `SIGBUS`, unless that is handled: so this is for files that nobody makes shorter, or for a program that handles it
//! (see [`unhandle_loss`]).

use std::fs::File;
use std::io;

use memmap2::MmapOptions;

/// Copies what lies at `offset` of a file.
///
/// ```
/// let path = std::env::temp_dir().join(format!("abz-codec-mapped-{}", std::process::id()));
/// std::fs::write(&path, "a branch of a river")?;
/// let file = std::fs::File::open(&path)?;
/// let mut word = [0; 6];
/// abz_codec::mapped::read_exact_at(&file, &mut word, 2)?;
/// assert_eq!(word, *b"branch");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// If the file cannot be mapped, or ends before what is asked for.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    has(file, bytes.len(), offset)?;
    let map = MmapOptions::new().offset(offset).len(bytes.len()).map_raw_read_only(file)?;
    // SAFETY: the mapping has `bytes.len()` bytes that may be read, by the options it was made with, and stays until
    // the end of this function. It is fresh memory of the system's, so it does not overlap `bytes`. No reference is made
    // to it. Another process may write to the file meanwhile, which Rust knows nothing of: it is assumed, as for all
    // shared memory, that a load of a byte then gives one of its values.
    unsafe { std::ptr::copy_nonoverlapping(map.as_ptr(), bytes.as_mut_ptr(), bytes.len()) };
    Ok(())
}

/// Copies `bytes` to `offset` of a file, which must be open for reading too.
///
/// On a disk that is full, the system ends the process with `SIGBUS`, unless the room was allocated beforehand.
///
/// # Errors
///
/// If the file cannot be mapped, or ends before where `bytes` end.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    has(file, bytes.len(), offset)?;
    let map = MmapOptions::new().offset(offset).len(bytes.len()).map_raw(file)?;
    // SAFETY: the mapping has `bytes.len()` bytes that may be written, and stays until the end of this function. It is
    // fresh memory of the system's, so it does not overlap `bytes`. No reference is made to it, so what others read or
    // write there meanwhile breaks none.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), map.as_mut_ptr(), bytes.len()) };
    Ok(())
}

/// Makes `SIGBUS` end the process again, as in a program that has not started yet: for who is about to handle it.
///
/// The standard library has a handler for it, which looks for stacks that are too deep. For any other cause that handler
/// takes itself out and returns, and the next touch of the lost memory ends the process. A handler that calls those
/// that were there before it, as those of `signal-hook` do, would be taken out with it.
#[cfg(unix)]
pub fn unhandle_loss() {
    // SAFETY: this gives a signal its default action, and no function of ours to call. It takes no memory.
    unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
}

/// Whether the file has so many bytes: to map more is allowed, and fatal to touch.
fn has(file: &File, len: usize, offset: u64) -> io::Result<()> {
    let end = offset.checked_add(len as u64);
    let found = file.metadata()?.len();
    if end.is_some_and(|end| end <= found) {
        return Ok(());
    }
    let text = format!("expected {len} bytes at byte {offset}, found a file of {found} bytes");
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, contents: &[u8]) -> File {
        let path = std::env::temp_dir().join(format!("abz-codec-{}-{name}", std::process::id()));
        std::fs::write(&path, contents).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    #[test]
    fn parts_at_any_offset_are_what_was_written_there() {
        let contents: Vec<u8> = (0..20_000u32).map(|n| (n % 251) as u8).collect();
        let file = file("parts", &contents);
        for (offset, len) in [(0, 20_000), (4_095, 2), (4_096, 4_096), (19_999, 1), (7, 0), (20_000, 0)] {
            let mut bytes = vec![0; len];
            read_exact_at(&file, &mut bytes, offset as u64).unwrap();
            assert_eq!(bytes, contents[offset..offset + len]);
        }
        write_all_at(&file, b"here", 4_094).unwrap();
        let mut bytes = [0; 6];
        read_exact_at(&file, &mut bytes, 4_093).unwrap();
        assert_eq!(&bytes[1..5], b"here");
        assert_eq!((bytes[0], bytes[5]), (contents[4_093], contents[4_098]));
    }

    #[test]
    fn what_lies_behind_the_end_is_an_error() {
        let file = file("short", b"12345");
        for (offset, len) in [(0, 6), (5, 1), (u64::MAX, 1), (1 << 40, 4)] {
            let error = read_exact_at(&file, &mut vec![0; len], offset).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            assert!(write_all_at(&file, &vec![0; len], offset).is_err());
        }
    }
}
