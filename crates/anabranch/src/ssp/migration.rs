//! From Rust-SSP to here, line by line.
//!
//! In `Cargo.toml` take `anabranch` in the place of `rust-spp`, and in the program:
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
//! Nothing else changes: items and stages are `Send` and `'static` as before, replicas are an `i32`, and the
//! expression in `parallel!` is evaluated once for each replica. The type of a pipeline is `Pipeline<T, R>`, of what
//! is posted and what is collected, so it can be kept in a struct.
//!
//! # What is different, and why
//!
//! | | Rust-SSP | here |
//! |---|---|---|
//! | `post` | never waits: what the stages have not done yet is kept in memory | waits while there is no room |
//! | `sequential_ordered!` before the last stage | is ignored | orders |
//! | `parallel!` as the last stage | is not implemented | collects in the order in which it got its items |
//! | zero replicas | hangs | panics in `parallel!`, naming the number |
//! | a stage panics | hangs | the caller gets the panic, from the next `post`, `collect`, `end_and_wait` or drop |
//! | after a panic | later items go on | behind an ordered stage, nothing of a later item was seen |
//! | `post` after the end | `Err(StreamEnded)` | the same |
//! | `order` in a last stage behind `sequential!` | counts what arrives | is the number of the post, there too |
//! | a slow item before an unordered stage | holds up no other | holds up others once the room is full |
//! | threads | one for each replica of each stage | as many as the most replicas of a stage, or one a processor if that is more and there are as many replicas in all; they serve all stages |
//!
//! Two things follow from the room and from the threads. A stage that waits for a later item to be posted can stop
//! working: what waits takes room. And so can a stage that waits for what another stage does with another item, as with
//! a `Barrier` that both share: there may be no thread for that one. Stages that wait rather than compute, such as for a
//! disk or a network, overlap less: give one of them as many replicas as items are to be under way.
//!
//! # What one gains
//!
//! The same pipeline as a [`Stream`](crate::Stream) needs no `'static`, no posting, and may fail:
//!
//! ```
//! # use std::io::Write;
//! use anabranch::Stream;
//! use anabranch::ssp::*;
//!
//! let lines = ["7", "5", "3"];
//!
//! // As it was. A line that is no number has to become something that the program finds afterwards.
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
//! // As a stream. The first line that is no number is the error that the caller gets.
//! let mut output = Vec::new();
//! Stream::from_iter(&lines)
//!     .try_map(|line| line.parse::<u64>())
//!     .for_each(|number| writeln!(output, "{number}").unwrap())?;
//! assert_eq!(output, b"7\n5\n3\n");
//! # Ok::<(), std::num::ParseIntError>(())
//! ```
