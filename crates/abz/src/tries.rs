//! Decoding in two tries, for lzip members whose first flush comes late. The quick decoder notices too late that it
//! cannot decode them.

use std::io::Write;

use abz_codec::Remedy;

use crate::count::{Counted, Rest};
use crate::decompress::Decompression;
use crate::error::Error;

impl Decompression {
    /// Decodes a file that can be read twice, such as a regular file. `first` decodes it from its start. If that fails
    /// because the file has to be [read twice](Remedy::RegularFile), `again` decodes it from its start as well, with
    /// the decompression that it is given. The bytes that `first` has written are not written again. `again` returns
    /// `None` if the file cannot be read twice after all.
    ///
    /// ```
    /// use abz::{Compression, Decompression};
    ///
    /// let (mut file, mut contents) = (Vec::new(), Vec::new());
    /// Compression::default().run(&b"a branch of a river"[..], &mut file)?;
    /// Decompression::default().in_two_tries(
    ///     &mut contents,
    ///     |how, output| how.run(&file[..], output),
    ///     |how, output| Some(how.run(&file[..], output)),
    /// )?;
    /// assert_eq!(contents, b"a branch of a river");
    /// # Ok::<(), abz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the last try.
    pub fn in_two_tries<T>(
        &self,
        output: &mut (dyn Write + Send),
        first: impl FnOnce(&Decompression, &mut (dyn Write + Send)) -> Result<T, Error>,
        again: impl FnOnce(&Decompression, &mut (dyn Write + Send)) -> Option<Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut counted = Counted::new(&mut *output);
        let done = first(self, &mut counted);
        let known = counted.bytes;
        if let Err(Error::Damaged(damage)) = &done
            && damage.remedy() == Remedy::RegularFile
        {
            let mut how = self.clone();
            how.allow_late_flushes();
            return again(&how, &mut Rest { left: known, output }).unwrap_or(done);
        }
        done
    }
}
