//! The implementation of the command `abz`. An output gets its name only when it is complete.
//!
//! | module | contents |
//! |---|---|
//! | [`arguments`] | the command lines of abz and of other tools, and their translation to a request |
//! | [`request`] | the checked command line: an action with its settings, and the behaviour of the tool |
//! | [`many_files`] | the main loop: large files one by one, small ones in parallel; the limits of the run, and its reports |
//! | [`action`] | the interface of an action on each input |
//! | [`one_file`] | the way of one file: compressing, decompressing, indices, ranges, verification |
//! | [`input`] | finding, opening, checking and removing of inputs |
//! | [`output`] | output files: where they go, and how they get their names |
//! | [`archive`] | the actions of `--archive` and `--extract` |
//! | [`list`] | the action of `--list` |
//! | [`recover`] | the action of `--recover` |
//! | [`explain`] | the action of `--explain` |
//! | [`bench`] | the action of `--bench` |
//! | [`messages`] | errors and warnings with advice, the console, the progress bar |
//! | [`system`] | descriptors, signals, temporary files, holes, and names as text |

#[cfg(not(unix))]
compile_error!("the command knows files by their Unix attributes; the library `abz` runs anywhere");

mod action;
mod archive;
mod arguments;
pub mod bench;
mod explain;
mod input;
mod list;
pub mod many_files;
mod messages;
mod one_file;
mod output;
mod recover;
mod request;
pub mod system;

pub use arguments::command_line::asked;
pub use messages::console::Console;
