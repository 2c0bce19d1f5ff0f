//! The language of Rust-SSP: macros list the stages of a pipeline, and items are posted to it.
//!
//! The names and their meaning are those of *High-level and efficient structured stream parallelism for Rust
//! on multi-cores* (Pieper, Löff, Hoffmann, Griebler, Fernandes, 2021; section 3.2). A program that was
//! written for that library compiles with `use anabranch::ssp::*;` in place of `use rust_spp::*;`; see
//! [`migration`].
//!
//! ```
//! use anabranch::ssp::*;
//!
//! struct Numbering(String);
//!
//! impl In<String, String> for Numbering {
//!     fn process(&mut self, line: String, order: u64) -> String {
//!         self.0.push('>');
//!         format!("{} {order} {line}", self.0)
//!     }
//! }
//!
//! let replicas = 4;
//! let pipeline = pipeline![
//!     parallel!(|line: &'static str| Some(line.to_uppercase()), replicas),
//!     sequential_ordered!(Numbering(String::new()))
//! ];
//! for line in ["one", "two", "three"] {
//!     pipeline.post(line).unwrap();
//! }
//! assert_eq!(pipeline.collect(), ["> 0 ONE", ">> 1 TWO", ">>> 2 THREE"]);
//! ```
//!
//! # Guarantees
//!
//! - **Bounded.** A pipeline has room for 64 items, or for 16 items a worker if that is more. If no item that
//!   passes between its stages owns memory (as `String` and `Vec` do), it has room for up to 4,096 items or
//!   64 KiB of them. This many items may wait before the first stage, and this many may be in the stages. A
//!   `parallel!` whose results are taken in the order in which they finish may have as many again behind it.
//!   [`post`](Pipeline::post) waits if there is no room, until there is some, or, if items are fast, until
//!   half of the room is free. One slow item can therefore hold up a whole room of other items, even before a
//!   stage that is not ordered.
//! - **Order.** `sequential_ordered!` and `collect_ordered!()` take items in the order in which they were
//!   posted, at any place in the pipeline. `sequential!` and `collect!()` take items in the order in which
//!   they finish, unless a later stage is ordered. If `parallel!` is the last stage, its results are
//!   collected in the order in which it took its items.
//! - **Threads.** A pipeline has its own threads: as many as the largest number of replicas of a stage, or
//!   one for each processor if that is more, but never more than all replicas and sequential stages together.
//!   Every thread serves every stage, and sleeps while there is nothing to do. A stage never runs for more
//!   items at once than it has replicas.
//! - **Prompt.** An item that was posted goes through the pipeline without waiting for another post. If many
//!   items have taken less than 2 µs each, up to 64 of them go from stage to stage together, and a worker
//!   takes about 20 µs of such work at a time. If one of these items is slow, the items behind it in the same
//!   group wait for it. Other items are taken by another worker after at most about a millisecond.
//! - **Ends.** Dropping a pipeline ends it, and so do [`collect`](Pipeline::collect) and
//!   [`end_and_wait`](Pipeline::end_and_wait). All posted items are finished, and then the threads end.
//! - **Panics.** When a stage panics, no more items are taken. The caller gets the panic once, with its own
//!   payload, from the next `post`, `collect`, `end_and_wait` or drop. Even if none of these follows, the
//!   threads end and the stages are dropped. Stages after an ordered stage have seen no item after the one
//!   that panicked.
//! - **Endless streams.** A last stage that returns `()` stores nothing.
//!
//! A [`Stream`](crate::Stream) does the same without `'static` and without posting, and its stages may return
//! errors.

mod line;
#[doc(hidden)]
pub mod listed;
mod macros;
pub mod migration;
mod pipeline;
mod replicas;
mod stages;
mod wish;

pub use pipeline::{ItemPostError, Pipeline};
pub use stages::{Parallel, Sequential};

#[doc(inline)]
pub use crate::{
    __ssp_collect as collect, __ssp_collect_ordered as collect_ordered, __ssp_parallel as parallel,
    __ssp_pipeline as pipeline, __ssp_sequential as sequential,
    __ssp_sequential_ordered as sequential_ordered,
};

/// A stage that turns items `T` into items `U`. Every stage but the last is one.
///
/// Closures and functions `FnMut(T) -> Option<U>` implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a stage that turns `{T}` into `{U}`",
    label = "this stage is not the last one",
    note = "a closure must return an `Option`: `Some(item)` to hand an item on, `None` to drop it",
    note = "a struct needs `impl InOut<{T}, {U}>`"
)]
pub trait InOut<T, U> {
    /// Processes an item. Returns the item for the next stage, or `None` to drop it.
    fn process(&mut self, item: T) -> Option<U>;
}

impl<T, U, F: FnMut(T) -> Option<U>> InOut<T, U> for F {
    fn process(&mut self, item: T) -> Option<U> {
        self(item)
    }
}

/// A last stage. It takes items `T` and returns `R`, which is collected.
///
/// Closures and functions `FnMut(T) -> R` implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a last stage that takes `{T}`",
    label = "this stage is the last one",
    note = "a struct needs `impl In<{T}, {R}>`"
)]
pub trait In<T, R = ()> {
    /// Processes an item. `order` is the number of the item in the order of the posts, counted from 0.
    fn process(&mut self, item: T, order: u64) -> R;
}

impl<T, R, F: FnMut(T) -> R> In<T, R> for F {
    fn process(&mut self, item: T, _: u64) -> R {
        self(item)
    }
}
