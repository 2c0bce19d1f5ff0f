//! Encoders, decoders and buffers that are kept from one run to the next.

use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use anabranch::Recycler;
use anabranch::posts::fork;

use crate::pipes::buffers;

/// How many idle buffers of a kind are kept.
const KEPT_BUFFERS: usize = 4;

/// The tables and buffers with which one thread compresses and decompresses file after file. They are for many small
/// files, where each thread takes files of its own: [`WriterBuilder::tools`](crate::WriterBuilder::tools) and
/// [`ReaderBuilder::tools`](crate::ReaderBuilder::tools).
///
/// ```
/// use abz::{Tools, WriterBuilder};
/// use std::io::Write;
///
/// let tools = Tools::new();
/// for text in ["one small file", "another one"] {
///     let mut writer = WriterBuilder::new().workers(1).tools(&tools).build(Vec::new())?;
///     writer.write_all(text.as_bytes())?;
///     let file = writer.finish()?;
///     assert_eq!(abz::Reader::new(&file[..]).and_then(std::io::read_to_string)?, text);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Tools {
    idle: Idle,
    buffers: Buffers,
}

/// The tools of the formats that are not in use.
type Idle = Arc<Mutex<Vec<Box<dyn Any + Send>>>>;

/// The buffers that are not in use.
#[derive(Clone)]
struct Buffers {
    any: Recycler<Vec<u8>>,
    inputs: Recycler<Vec<u8>>,
}

impl Tools {
    /// Makes empty tools. Tables and buffers are allocated when they are first needed.
    pub fn new() -> Self {
        let any = Recycler::new(KEPT_BUFFERS, Vec::new);
        Tools { idle: Idle::default(), buffers: Buffers { any, inputs: buffers::buffers(KEPT_BUFFERS) } }
    }

    /// Returns a lender of the buffers into which an input is read, which keeps other tools for one run.
    pub(crate) fn lender_of_inputs(&self) -> Lender {
        Lender { inputs: Some(self.buffers.inputs.clone()), ..Lender::of_tools() }
    }

    /// Returns a lender of these tools and buffers.
    pub(crate) fn lender(&self) -> Lender {
        let Buffers { any, inputs } = self.buffers.clone();
        Lender { idle: Some(Arc::clone(&self.idle)), any: Some(any), inputs: Some(inputs) }
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

impl fmt::Debug for Lender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lender").finish_non_exhaustive()
    }
}

/// Lends tools and buffers for one run. The default one keeps neither.
#[derive(Clone, Default)]
pub(crate) struct Lender {
    idle: Option<Idle>,
    any: Option<Recycler<Vec<u8>>>,
    inputs: Option<Recycler<Vec<u8>>>,
}

impl Lender {
    /// Keeps the tools of one run, whose threads come and go.
    pub(crate) fn of_tools() -> Self {
        Lender { idle: Some(Idle::default()), ..Lender::default() }
    }

    /// Lends an encoder or decoder that was kept and `fits`, or a new one.
    pub(crate) fn tool<T: Any + Send>(&self, fits: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> Tool<T> {
        let kept = self.idle.as_ref().and_then(|idle| {
            let mut idle = lock(idle);
            let at = idle.iter().position(|tool| tool.downcast_ref().is_some_and(&fits))?;
            idle.swap_remove(at).downcast().ok()
        });
        Tool { tool: Some(kept.unwrap_or_else(|| Box::new(make()))), home: self.idle.clone() }
    }

    /// A recycler of buffers, which keeps at most `keep` idle ones if there are no tools. They have the contents that
    /// their last user left.
    pub(crate) fn buffers(&self, keep: usize) -> Recycler<Vec<u8>> {
        self.any.clone().unwrap_or_else(|| Recycler::new(keep, Vec::new))
    }

    /// As [`buffers`](Self::buffers), with the buffers into which an input is read.
    pub(crate) fn inputs(&self, keep: usize) -> Recycler<Vec<u8>> {
        self.inputs.clone().unwrap_or_else(|| buffers::buffers(keep))
    }
}

fn lock(idle: &Idle) -> MutexGuard<'_, Vec<Box<dyn Any + Send>>> {
    fork::lock(idle)
}

/// An encoder or decoder that goes back to its [`Tools`] when it is dropped, except in a panic.
pub(crate) struct Tool<T: Any + Send> {
    /// `Some` until it is dropped.
    tool: Option<Box<T>>,
    home: Option<Idle>,
}

impl<T: Any + Send> Deref for Tool<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.tool.as_ref().expect("the tool is there until it is dropped")
    }
}

impl<T: Any + Send> DerefMut for Tool<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.tool.as_mut().expect("the tool is there until it is dropped")
    }
}

impl<T: Any + Send> Drop for Tool<T> {
    fn drop(&mut self) {
        if let (Some(tool), Some(home), false) = (self.tool.take(), &self.home, thread::panicking()) {
            lock(home).push(tool);
        }
    }
}
