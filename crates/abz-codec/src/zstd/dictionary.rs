//! What frames may refer to beside themselves.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;
use zstd_safe::{CCtx, DCtx};

use super::stream::MEMORY;

/// A dictionary: contents that frames refer to as if they had come before. It is one that `zstd --train` made, or any
/// bytes. Clones share the bytes; every encoder and decoder makes tables of its own from them, once.
#[derive(Clone, PartialEq, Eq)]
pub struct Dictionary {
    bytes: Arc<[u8]>,
    id: u32,
}

/// Why bytes are no dictionary.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected a dictionary, found one whose tables are damaged ({detail})")]
pub struct DictionaryError {
    detail: &'static str,
}

impl Dictionary {
    /// A dictionary of these bytes. What does not begin like one that was trained (`37 a4 30 ec`) is taken as it is.
    ///
    /// # Errors
    ///
    /// If it begins like one that was trained, and is none.
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

    /// Its number, which frames that need it say; 0 if it has none.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Has a decoder use it.
    pub(super) fn load(&self, context: &mut DCtx<'_>) -> Result<(), usize> {
        context.load_dictionary(&self.bytes).map(drop)
    }

    /// Has an encoder use it.
    pub(super) fn teach(&self, context: &mut CCtx<'_>) -> Result<(), usize> {
        context.load_dictionary(&self.bytes).map(drop)
    }
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary").field("id", &self.id).field("len", &self.bytes.len()).finish()
    }
}
