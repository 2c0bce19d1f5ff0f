//! Rust-SSP's language: a pipeline is a list of stages in macros, and items are posted to it.
//!
//! The names and what they mean are those of *High-level and efficient structured stream parallelism for Rust on
//! multi-cores* (Pieper, Löff, Hoffmann, Griebler, Fernandes, 2021; section 3.2). A program written for that
//! library compiles with `use anabranch::ssp::*;` in the place of `use rust_spp::*;`: see [`migration`].
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
//! # What it promises
//!
//! - **Bounded.** A pipeline has room for 64 items, or for 16 a worker if that is more. Where no item between its
//!   stages owns memory (as `String` and `Vec` do), the room is 4,096 items, or what fits into 64 KiB. So many may wait
//!   before the first stage, so many be in the stages up to the end of the last, and as many again behind each
//!   `parallel!` whose results are taken as they are done. [`post`](Pipeline::post) waits if there is no room, until there
//!   is some, or half of it while items are quick: so a slow item holds up a whole room of others, also before an unordered
//!   stage.
//! - **Order.** `sequential_ordered!` and `collect_ordered!()` see items in the order of their posts, wherever they
//!   stand. `sequential!` and `collect!()` take items as they are done, unless a stage behind them is ordered. A last
//!   `parallel!` has its results collected in the order in which it got its items.
//! - **Threads.** A pipeline owns its threads: as many as the most replicas of a stage, or as there are replicas and
//!   sequential stages in all where the processors are enough for those. All of them serve all stages, and park while
//!   there is nothing to do. A stage never runs more often at once than it has replicas.
//! - **Prompt.** An item that is posted goes through without waiting for another post. While many items have been
//!   quick, of less than 2 microseconds each, up to 64 of them go from stage to stage together, and a worker takes some 20
//!   microseconds of such work at once; should one of these be slow, those behind it wait. Others are taken by another
//!   worker, a millisecond later at most.
//! - **Ends.** Dropping a pipeline ends it, and so do [`collect`](Pipeline::collect) and
//!   [`end_and_wait`](Pipeline::end_and_wait): what was posted is finished, then the threads end.
//! - **Panics.** When a stage panics, no further item is taken and the caller gets the panic, with its own payload:
//!   from the next `post`, `collect`, `end_and_wait` or drop, and once. The threads end, and the stages are dropped, also
//!   if none of these comes. Behind an ordered stage nothing of the items after the one that panicked was seen.
//! - **Endless streams.** A last stage that gives `()` stores nothing.
//!
//! Where nothing has to be `'static`, [`Stream`](crate::Stream) borrows, has errors, and needs no posting.

mod line;
mod macros;
pub mod migration;
mod pipeline;
mod queue;
mod replicas;
mod room;
mod stages;

pub use line::Line;
pub use pipeline::{ItemPostError, Pipeline};
pub use stages::{Parallel, Sequential, Stage, Wish, stage};

#[doc(inline)]
pub use crate::{
    __ssp_collect as collect, __ssp_collect_ordered as collect_ordered, __ssp_parallel as parallel,
    __ssp_pipeline as pipeline, __ssp_sequential as sequential,
    __ssp_sequential_ordered as sequential_ordered,
};

/// A stage that turns items `T` into items `U`: every stage but the last.
///
/// Closures and functions `FnMut(T) -> Option<U>` are such stages.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a stage that turns `{T}` into `{U}`",
    label = "in a stage that is not the last",
    note = "a closure must give an `Option`: `Some` of the item that goes on, `None` to drop it",
    note = "a struct needs `impl InOut<{T}, {U}>`"
)]
pub trait InOut<T, U> {
    /// Takes an item; `None` drops it.
    fn process(&mut self, item: T) -> Option<U>;
}

impl<T, U, F: FnMut(T) -> Option<U>> InOut<T, U> for F {
    fn process(&mut self, item: T) -> Option<U> {
        self(item)
    }
}

/// A last stage: takes items `T` and gives what is collected, `R`.
///
/// Closures and functions `FnMut(T) -> R` are such stages.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a last stage that takes `{T}`",
    label = "in the last stage",
    note = "a struct needs `impl In<{T}, {R}>`"
)]
pub trait In<T, R = ()> {
    /// Takes an item, the `order`th that was posted, counted from 0.
    fn process(&mut self, item: T, order: u64) -> R;
}

impl<T, R, F: FnMut(T) -> R> In<T, R> for F {
    fn process(&mut self, item: T, _: u64) -> R {
        self(item)
    }
}
