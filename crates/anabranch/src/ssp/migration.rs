//! How to move a program from Rust-SSP to Anabranch, line by line.
//!
//! Replace `rust-spp` by `anabranch` in `Cargo.toml`, and change the program as follows:
//!
//! | Rust-SSP | here |
//! |---|---|
//! | `use rust_spp::*;` | `use anabranch::ssp::*;` |
//! | `pipeline![a, b, c]` | the same; one stage is enough, and a comma may follow the last |
//! | `parallel!(stage, replicas)` | the same; it may be the last stage too |
//! | `sequential!(stage)` | the same |
//! | `sequential_ordered!(stage)` | the same; it orders in the middle of a pipeline too |
//! | `collect!()`, `collect_ordered!()` | the same |
//! | `impl InOut<T, U> for Stage` | the same |
//! | `impl In<T> for Stage`, `impl In<T, R> for Stage` | the same |
//! | `pipeline.post(item).unwrap()` | the same; it waits while the pipeline has no room |
//! | `pipeline.collect()` | the same |
//! | `pipeline.end_and_wait()` | the same; `pipeline.end()` does not wait |
//!
//! Nothing else changes. Items and stages are `Send` and `'static` as before, the number of replicas is an
//! `i32`, and the expression in `parallel!` is evaluated once for each replica. A pipeline has the type
//! `Pipeline<T, R>`, where `T` is the type of the posted items and `R` that of the collected results. It can
//! therefore be kept in a struct.
//!
//! # What is different, and why
//!
//! | | Rust-SSP | here |
//! |---|---|---|
//! | `post` | never waits: memory holds all items that are not processed yet | waits while there is no room |
//! | `sequential_ordered!` before the last stage | is ignored | orders the items |
//! | `parallel!` as the last stage | is not implemented | collects in the order in which it took its items |
//! | zero replicas | hangs | panics in `parallel!`, and the message has the number |
//! | a stage panics | hangs | the caller gets the panic, from the next `post`, `collect`, `end_and_wait` or drop |
//! | after a panic | later items are processed | stages after an ordered stage have seen no later item |
//! | `post` after the end | `Err(StreamEnded)` | the same |
//! | `order` in a last stage after `sequential!` | counts the arriving items | is always the number of the post |
//! | a slow item before a stage that is not ordered | holds up no other item | holds up others once the room is full |
//! | threads | one for each replica of each stage | as many as the largest number of replicas of a stage, or one for each processor if that is more, but never more than all replicas and sequential stages together; every thread serves every stage |
//!
//! Two programs that work with Rust-SSP can stop here. In the first, a stage waits until a later item is
//! posted: the items that wait take up the room. In the second, a stage waits for what another stage does
//! with another item, as with a `Barrier` that both share: there may be no thread for the other stage.
//!
//! Stages that wait for a disk or a network instead of computing overlap less here. Give one of them as many
//! replicas as items are to be processed at once.
//!
//! # What a stream adds
//!
//! The same pipeline as a [`Stream`](crate::Stream) needs neither `'static` nor posting, and its stages may
//! fail:
//!
//! ```
//! # use std::io::Write;
//! use anabranch::Stream;
//! use anabranch::ssp::*;
//!
//! let lines = ["7", "5", "3"];
//!
//! // With Rust-SSP's macros. The stage drops a line that is not a number, and the caller does not learn of it.
//! let pipeline = pipeline![
//!     parallel!(|line: &'static str| line.parse::<u64>().ok(), 4),
//!     collect_ordered!()
//! ];
//! for line in lines {
//!     pipeline.post(line).unwrap();
//! }
//! let numbers = pipeline.collect();
//! assert_eq!(numbers, [7, 5, 3]);
//!
//! // As a stream. The caller gets the error of the first line that is not a number.
//! let mut output = Vec::new();
//! Stream::from_iter(&lines)
//!     .try_map(|line| line.parse::<u64>())
//!     .for_each(|number| writeln!(output, "{number}").unwrap())?;
//! assert_eq!(output, b"7\n5\n3\n");
//! # Ok::<(), std::num::ParseIntError>(())
//! ```
