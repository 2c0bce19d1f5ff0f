//! Reading a few bytes at one place of a file.

use std::io::{self, Read, Seek, SeekFrom};

/// Reads the `N` bytes at `offset`.
///
/// # Errors
///
/// If the file cannot be read, or ends before.
pub(crate) fn bytes_at<const N: usize, F: Read + Seek>(file: &mut F, offset: u64) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads bytes at `offset` until `bytes` is full or the file ends, and returns those that were read.
pub(crate) fn glance<'a, F: Read + Seek>(
    file: &mut F,
    offset: u64,
    bytes: &'a mut [u8],
) -> io::Result<&'a [u8]> {
    file.seek(SeekFrom::Start(offset))?;
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(&bytes[..filled])
}
