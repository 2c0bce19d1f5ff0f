//! The implementation of the command `abz`. An output gets its name only when it is complete.
//!
//! | module | contents |
//! |---|---|
//! | [`arguments`] | the command line of `abz`, for clap and `--help` |
//! | [`command_line`] | translation of the arguments of `abz` |
//! | [`dialect`] | translation of the command lines of other tools |
//! | [`raw_arguments`] | the arguments that both are translated to |
//! | [`request`] | the checked command line: an action with its settings |
//! | [`behaviour`] | the behaviour of abz and of other tools |
//! | [`options`] | the spelling of options in messages |
//! | [`pages`] | the manual page and the completions |
//! | [`walk`] | iteration over the inputs, and over folders with `-r` |
//! | [`jobs`] | the main loop: large files one by one, small ones in parallel |
//! | [`tasks`] | the requests that process each input on its own |
//! | [`conversion`] | the processing of one input |
//! | [`compressing`], [`decompressing`] | the operations on its bytes |
//! | [`indices`] | indices of compressed files |
//! | [`explain`] | the action of `--explain` |
//! | [`threads`] | the threads that process an input |
//! | [`limits`] | resource limits: open files, address space, stack |
//! | [`join`] | several inputs with one output |
//! | [`access`] | the action of `--range` and `--line-range` |
//! | [`io_mode`] | the I/O modes of `--input-io` and `--output-io` |
//! | [`verify`] | the check of `--verify` |
//! | [`sums`] | checksums of the uncompressed data |
//! | [`checksum`] | the output of `--checksum` |
//! | [`bench`] | the action of `--bench` |
//! | [`list`] | the action of `--list` |
//! | [`recover`] | the action of `--recover` |
//! | [`archive`] | the actions of `--archive` and `--extract` |
//! | [`input`] | opening, checking and removing of inputs |
//! | [`file_id`] | the identity of a file, independent of its name |
//! | [`suffix`] | the names of compressed and uncompressed files |
//! | [`target`] | the target of an output |
//! | [`mirror`] | the subfolders of `--output-dir-mirror` |
//! | [`volumes`] | compressed files of limited size |
//! | [`ask`] | the prompt before a file is overwritten |
//! | [`output`] | output files, which get their names when complete |
//! | [`temporary`] | files under temporary names |
//! | [`patient`] | blocking operations on descriptors in any mode |
//! | [`holes`] | sparse files |
//! | [`sandbox`] | restriction of file access |
//! | [`interrupt`] | signals and broken pipes |
//! | [`messages`] | the messages about an input |
//! | [`problem`] | errors and warnings, with advice |
//! | [`status`] | verbosity, and the exit status |
//! | [`console`] | standard error |
//! | [`stdout`] | standard output |
//! | [`progress`] | the progress bar |
//! | [`reports`] | the output of `--report` and `--trace` |
//! | [`quote`] | escaping of names in messages |

#[cfg(not(unix))]
compile_error!("the command knows files by their Unix attributes; the library `abz` runs anywhere");

mod access;
mod archive;
mod arguments;
mod ask;
mod behaviour;
pub mod bench;
mod checksum;
mod command_line;
mod compressing;
mod console;
mod conversion;
mod decompressing;
mod dialect;
mod explain;
mod file_id;
mod holes;
mod indices;
mod input;
pub mod interrupt;
mod io_mode;
pub mod jobs;
mod join;
pub mod limits;
mod list;
mod messages;
mod mirror;
mod options;
mod output;
mod pages;
mod patient;
mod problem;
mod progress;
mod quote;
mod raw_arguments;
mod recover;
mod reports;
mod request;
pub mod sandbox;
mod status;
mod stdout;
mod suffix;
mod sums;
mod target;
mod tasks;
mod temporary;
mod verify;
mod volumes;
mod walk;

pub use command_line::asked;
pub use console::Console;
