//! The command: from names on the command line to files that are whole, or as they were.
//!
//! | chapter | what it decides |
//! |---|---|
//! | [`arguments`] | what the user may write, for `--help` and for the parser |
//! | [`command_line`] | what the user has written |
//! | [`low`] | what it says, whichever tool's words it is in |
//! | [`request`] | what that means, once and for all |
//! | [`dialect`] | the same for the command lines of other tools, by whose names it is called |
//! | [`manners`] | what is different under those names |
//! | [`pages`] | the manual page and the completions, made of the arguments |
//! | [`walk`] | which inputs there are: folders, with `-r` |
//! | [`jobs`] | large files one by one, small ones side by side |
//! | [`tasks`] | what each request does with an input |
//! | [`conversion`] | one input from start to end |
//! | [`compressing`], [`decompressing`] | its bytes |
//! | [`explain`] | the plan that would run |
//! | [`crew`] | the threads that do the work |
//! | [`limits`] | how many of them at once, where few files may be open |
//! | [`join`] | several inputs to one output |
//! | [`access`] | a part of what is in an input |
//! | [`verify`] | that what is written can be read back |
//! | [`sums`] | sums of the plain data on its way |
//! | [`checksum`] | where they are told |
//! | [`bench`] | how fast and how small each format is on a file |
//! | [`list`] | what is told of compressed files |
//! | [`recover`] | what is whole in damaged files |
//! | [`archive`] | many files as one, made and taken apart |
//! | [`input`] | which files are taken, and when one may be removed |
//! | [`suffix`] | the names of compressed files, and of what is in them |
//! | [`target`] | where the output goes |
//! | [`mirror`] | folders like those of the inputs, below another one |
//! | [`volumes`] | compressed files of limited size |
//! | [`ask`] | whether a file shall be overwritten, as whoever sits at the terminal says |
//! | [`output`] | how it gets there whole: temporary file, attributes, rename |
//! | [`temporary`] | the name that a file has until then |
//! | [`patient`] | that what is not there yet is waited for |
//! | [`holes`] | zeros that take no room on the disk |
//! | [`sandbox`] | which files can be touched at all |
//! | [`interrupt`] | what happens on signals and broken pipes |
//! | [`told`] | what is to be told of an input |
//! | [`status`] | how much is told, and the exit status |
//! | [`console`] | where it is told |
//! | [`stdout`] | what is asked for, on standard output |
//! | [`progress`] | the bar that a long run shows |
//! | [`reports`] | what is told of the work itself: reports and traces |
//! | [`quote`] | how names are shown |
//! | [`problem`] | what went wrong, in words, with what to do |

#[cfg(not(unix))]
compile_error!("the command knows files by their Unix attributes; the library `abz` runs anywhere");

mod access;
mod archive;
mod arguments;
mod ask;
pub mod bench;
mod checksum;
mod command_line;
mod compressing;
mod console;
mod conversion;
mod crew;
mod decompressing;
mod dialect;
mod explain;
mod file_id;
mod holes;
mod indices;
mod input;
pub mod interrupt;
pub mod jobs;
mod join;
pub mod limits;
mod list;
mod low;
mod manners;
mod mirror;
mod options;
mod output;
mod pages;
mod patient;
mod problem;
mod progress;
mod quote;
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
mod told;
mod verify;
mod volumes;
mod walk;
mod ways;

pub use command_line::asked;
pub use console::Console;
