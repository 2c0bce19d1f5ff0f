//! Files and streams whose operations block, even if their descriptors are in non-blocking mode.
//!
//! A descriptor shares its flags with all its duplicates, so any program on the same terminal or pipe may have left
//! it in non-blocking mode (`O_NONBLOCK`), as `ssh` and Node do.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// A file or stream whose operations block.
#[derive(Debug)]
pub(crate) struct Patient<T>(pub(crate) T);

impl<T> Deref for Patient<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: AsFd> Patient<T> {
    /// Returns `true` if neither a byte nor the end arrives for that time.
    pub(crate) fn pauses_for(&self, time: Duration) -> bool {
        let time = Timespec::try_from(time).expect("it is a moment");
        // An error of `poll` will show up in the next read.
        matches!(poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&time)), Ok(0))
    }
}

impl<T: Read + AsFd> Read for Patient<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        patiently(&mut self.0, PollFlags::IN, |input| input.read(bytes))
    }
}

impl<T: BufRead + AsFd> BufRead for Patient<T> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        patiently(&mut self.0, PollFlags::IN, |input| input.fill_buf().map(drop))?;
        self.0.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.0.consume(len);
    }
}

impl Read for &Patient<File> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        patiently(&mut &self.0, PollFlags::IN, |input| input.read(bytes))
    }
}

impl Seek for &Patient<File> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.0).seek(to)
    }
}

impl<T: Write + AsFd> Write for Patient<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(&mut self.0, PollFlags::OUT, |output| output.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        patiently(&mut self.0, PollFlags::OUT, |output| output.flush())
    }
}

/// Repeats `call` until it does not return `WouldBlock`, and waits in between.
fn patiently<T: AsFd, R>(
    file: &mut T,
    flags: PollFlags,
    mut call: impl FnMut(&mut T) -> io::Result<R>,
) -> io::Result<R> {
    loop {
        match call(file) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                match poll(&mut [PollFd::new(file, flags)], None) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            done => return done,
        }
    }
}

/// Writes text to standard error. Errors are ignored, since there is nowhere to report them.
pub(crate) fn tell(text: &str) {
    let mut stderr = Patient(io::stderr().lock());
    let _ = stderr.write_all(text.as_bytes());
}
