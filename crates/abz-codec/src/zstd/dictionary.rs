//! Dictionaries, to which frames may refer.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;
use zstd_safe::{CCtx, DCtx};

use super::error::MEMORY;

/// A dictionary: contents that frames refer to as if they came before them. It is one that `zstd --train` made, or any
/// bytes. Clones share the bytes. Every encoder and decoder makes its own tables from them, once.
#[derive(Clone, PartialEq, Eq)]
pub struct Dictionary {
    bytes: Arc<[u8]>,
    id: u32,
}

/// The error of a trained dictionary that is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected a dictionary, found one whose tables are damaged ({detail})")]
pub struct DictionaryError {
    detail: &'static str,
}

impl Dictionary {
    /// Creates a dictionary of these bytes. Bytes that do not begin like a trained dictionary (`37 a4 30 ec`) are used
    /// as raw contents.
    ///
    /// # Errors
    ///
    /// If the bytes begin like a trained dictionary, but are none.
    pub fn new(bytes: &[u8]) -> Result<Dictionary, DictionaryError> {
        let id = zstd_safe::get_dict_id_from_dict(bytes).map_or(0, |id| id.get());
        let dictionary = Dictionary { bytes: bytes.into(), id };
        let no_memory = MEMORY.wrapping_neg();
        let tried = DCtx::try_create().ok_or(no_memory).and_then(|mut context| dictionary.load(&mut context));
        let tried = tried.and_then(|()| {
            let mut context = CCtx::try_create().ok_or(no_memory)?;
            dictionary.teach(&mut context)?;
            context.compress2(&mut Vec::with_capacity(64), b"").map(drop)
        });
        tried.map_err(|code| DictionaryError { detail: zstd_safe::get_error_name(code) })?;
        Ok(dictionary)
    }

    /// Returns the number of the dictionary, which frames that need it state; 0 if it has none.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns its size in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Loads it into a decoder.
    pub(super) fn load(&self, context: &mut DCtx<'_>) -> Result<(), usize> {
        context.load_dictionary(&self.bytes).map(drop)
    }

    /// Loads it into an encoder.
    pub(super) fn teach(&self, context: &mut CCtx<'_>) -> Result<(), usize> {
        context.load_dictionary(&self.bytes).map(drop)
    }
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary").field("id", &self.id).field("len", &self.bytes.len()).finish()
    }
}
