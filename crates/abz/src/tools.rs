//! Encoders, decoders and buffers that are kept from one run to the next.

use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use anabranch::Recycler;

use crate::pipes::inputs;

/// How many idle buffers of a kind are kept.
const KEPT_BUFFERS: usize = 4;

/// The tables and buffers with which one thread compresses and decompresses file after file. They are for many small
/// files, where each thread takes files of its own: [`RunOptions::tools`](crate::RunOptions::tools).
///
/// ```
/// use abz::{Compression, Decompression, RunOptions, Tools};
///
/// let tools = Tools::new();
/// let options = RunOptions { tools: Some(&tools), ..RunOptions::default() };
/// for text in ["one small file", "another one"] {
///     let (mut file, mut back) = (Vec::new(), Vec::new());
///     Compression::default().run_with(options, text.as_bytes(), &mut file)?;
///     Decompression::default().run_with(options, &file[..], &mut back)?;
///     assert_eq!(back, text.as_bytes());
/// }
/// # Ok::<(), abz::Error>(())
/// ```
pub struct Tools {
    /// The tools of the formats that are not in use.
    idle: Mutex<Vec<Box<dyn Any + Send>>>,
    buffers: Recycler<Vec<u8>>,
    inputs: Recycler<Vec<u8>>,
}

impl Tools {
    /// Makes empty tools. Tables and buffers are allocated when they are first needed.
    pub fn new() -> Self {
        Tools {
            idle: Mutex::default(),
            buffers: Recycler::new(KEPT_BUFFERS, Vec::new),
            inputs: inputs::buffers(KEPT_BUFFERS),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Box<dyn Any + Send>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Tools {
    fn default() -> Self {
        Tools::new()
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}

/// Lends tools for one run. Without [`Tools`], it makes new ones.
#[derive(Clone, Copy)]
pub(crate) struct Lender<'a>(pub(crate) Option<&'a Tools>);

impl<'a> Lender<'a> {
    /// Lends an encoder or decoder that was kept and `fits`, or a new one.
    pub(crate) fn tool<T: Any + Send>(
        self,
        fits: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Tool<'a, T> {
        let kept = self.0.and_then(|tools| {
            let mut idle = tools.idle();
            let at = idle.iter().position(|tool| tool.downcast_ref().is_some_and(&fits))?;
            idle.swap_remove(at).downcast().ok()
        });
        Tool { tool: Some(kept.unwrap_or_else(|| Box::new(make()))), home: self.0 }
    }

    /// A recycler of buffers, which keeps at most `keep` idle ones if there are no tools. They have the contents that
    /// their last user left.
    pub(crate) fn buffers(self, keep: usize) -> Recycler<Vec<u8>> {
        self.0.map_or_else(|| Recycler::new(keep, Vec::new), |tools| tools.buffers.clone())
    }

    /// As [`buffers`](Self::buffers), with the buffers into which an input is read.
    pub(crate) fn inputs(self, keep: usize) -> Recycler<Vec<u8>> {
        self.0.map_or_else(|| inputs::buffers(keep), |tools| tools.inputs.clone())
    }
}

/// An encoder or decoder that goes back to its [`Tools`] when it is dropped, except in a panic.
pub(crate) struct Tool<'a, T: Any + Send> {
    /// `Some` until it is dropped.
    tool: Option<Box<T>>,
    home: Option<&'a Tools>,
}

impl<T: Any + Send> Deref for Tool<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.tool.as_ref().expect("the tool is there until it is dropped")
    }
}

impl<T: Any + Send> DerefMut for Tool<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.tool.as_mut().expect("the tool is there until it is dropped")
    }
}

impl<T: Any + Send> Drop for Tool<'_, T> {
    fn drop(&mut self) {
        if let (Some(tool), Some(home), false) = (self.tool.take(), self.home, thread::panicking()) {
            home.idle().push(tool);
        }
    }
}
