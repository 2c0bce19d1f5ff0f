//! Asynchronous forms of the reader and the writer, on tokio's traits.

mod reader;
mod writer;

pub use reader::AsyncReader;
pub use writer::AsyncWriter;
