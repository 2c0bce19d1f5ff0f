//! Reading and writing of files through memory mappings that last for the call.
//!
//! Only copies are returned, never a reference to mapped memory: if others write to the file meanwhile, no slice of
//! this process changes. The copied bytes may be old or new, as with a read.
//!
//! If the file is shortened during a call, the system ends the process with `SIGBUS`, unless the program handles that
//! signal. So use this for files that nobody shortens, or in a program that handles it (see [`unhandle_loss`]).

use std::fs::File;
use std::io;

use memmap2::MmapOptions;

/// Copies the bytes at `offset` of a file into `bytes`.
///
/// ```
/// let path = std::env::temp_dir().join(format!("abz-codec-mapped-{}", std::process::id()));
/// std::fs::write(&path, "a branch of a river")?;
/// let file = std::fs::File::open(&path)?;
/// let mut word = [0; 6];
/// abz_codec::program::mapped::read_exact_at(&file, &mut word, 2)?;
/// assert_eq!(word, *b"branch");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// If the file cannot be mapped, or ends before `offset` plus the length of `bytes`.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    has(file, bytes.len(), offset)?;
    let map = MmapOptions::new().offset(offset).len(bytes.len()).map_raw_read_only(file)?;
    // SAFETY: the mapping has `bytes.len()` bytes that may be read, by the options it was made with, and lives until
    // the end of this function. The system has newly mapped it, so it does not overlap `bytes`. No reference to it is
    // made. Another process may write to the file meanwhile, of which Rust knows nothing. As for all shared memory,
    // this assumes that a load of a byte then gives one of its values.
    unsafe { std::ptr::copy_nonoverlapping(map.as_ptr(), bytes.as_mut_ptr(), bytes.len()) };
    Ok(())
}

/// Copies `bytes` to `offset` of a file, which must be open for reading and writing.
///
/// If the disk is full, the system ends the process with `SIGBUS`, unless the space was allocated before.
///
/// # Errors
///
/// If the file cannot be mapped, or ends before `offset` plus the length of `bytes`.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    has(file, bytes.len(), offset)?;
    let map = MmapOptions::new().offset(offset).len(bytes.len()).map_raw(file)?;
    // SAFETY: the mapping has `bytes.len()` bytes that may be written, and lives until the end of this function. The
    // system has newly mapped it, so it does not overlap `bytes`. No reference to it is made, so concurrent reads or
    // writes of others violate none.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), map.as_mut_ptr(), bytes.len()) };
    Ok(())
}

/// Restores the default action of `SIGBUS`, which ends the process. Call it before you install your own handler.
///
/// The standard library installs a handler that detects stack overflows. For any other cause that handler uninstalls
/// itself and returns, and the next access to the lost memory ends the process. Handlers that call their predecessors,
/// such as those of `signal-hook`, would be uninstalled with it.
#[cfg(unix)]
pub fn unhandle_loss() {
    // SAFETY: this sets a signal's default action, and passes no function. It allocates no memory.
    unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
}

/// Checks that the file has so many bytes. A larger mapping is possible, but accessing it is fatal.
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
