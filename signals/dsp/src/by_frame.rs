//! Programs whose frames are computed side by side, by any scheduler.
//!
//! A program is made parallel without a network in this way: each thread takes a whole frame. The programs that can be
//! cut into frames offer it, so that a network can be compared with other libraries.

use crate::Result;

/// Something that computes frames side by side.
pub trait ByFrame {
    /// Takes frames from `read` until there are none, computes each with `code`, and gives the results to `write` in
    /// the order of the frames. Each thread has a state, which `state` makes.
    ///
    /// # Errors
    /// The error of `read` or of `write`.
    fn run<F: Send, S: Send, R: Send>(
        &self,
        read: impl FnMut() -> Result<Option<F>> + Send,
        state: impl Fn() -> S + Send + Sync,
        code: impl Fn(&mut S, F) -> R + Send + Sync,
        write: impl FnMut(R) -> Result<()> + Send,
    ) -> Result<()>;
}

/// Computes one frame after the other.
#[derive(Debug, Clone, Copy)]
pub struct InTurn;

impl ByFrame for InTurn {
    fn run<F: Send, S: Send, R: Send>(
        &self,
        mut read: impl FnMut() -> Result<Option<F>> + Send,
        state: impl Fn() -> S + Send + Sync,
        code: impl Fn(&mut S, F) -> R + Send + Sync,
        mut write: impl FnMut(R) -> Result<()> + Send,
    ) -> Result<()> {
        let mut state = state();
        while let Some(frame) = read()? {
            write(code(&mut state, frame))?;
        }
        Ok(())
    }
}
