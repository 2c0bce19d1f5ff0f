//! Streams of items that other threads post one by one. No worker waits in their source, and quick items travel in
//! batches. [`ssp`](crate::ssp) and the library for C are built on it.

mod queue;
mod room;

use std::sync::Arc;

use anabranch_plan::Node;
use anabranch_record::lane::Cell;
use anabranch_record::mutant::Mutant;

use crate::engine::Weigher;
use crate::stream::{Mode, Stream, TryStream};
use queue::queue;

pub use crate::outside::channel::{Channel, channel};
#[doc(hidden)]
pub use anabranch_record::fork;
pub use queue::Sender;
pub use room::Room;

// This mutant takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_ACCOUNT_OF_POSTS: Mutant = Mutant("no_account_of_posts");

/// Creates the sender and the stream of what it posts. `workers` run the stream, and `room` bounds it. `number` makes the
/// stream's item of a posted item and its number in the order of the posts, which is counted from 0.
pub(crate) fn posts<'env, T, U, M>(
    workers: usize,
    room: &Arc<Room>,
    number: impl Fn(u64, T) -> U + Send + 'env,
) -> (Sender<T>, Stream<'env, U, M>)
where
    T: Send + 'static,
    U: Send + 'env,
    M: Mode<Error: 'env>,
{
    let (sender, receiver) = queue(workers, Arc::clone(room), number);
    let (feed, supply) = (receiver.feed(), receiver.supply());
    let stream = Stream::pulled_in_batches(receiver, Node::source("post"), Some(of_batches(room)));
    (sender, stream.fed(feed).supplied(supply).workers(workers))
}

/// Creates the sender and the stream of what it posts, whose stages may fail. At most as many items wait as `room` has
/// room for, and at most as many are in the stages. `bytes` limits those in the stages further, as
/// [`Source::window_bytes`](crate::Source::window_bytes) does. The source has the name `name`.
///
/// # Panics
/// If `workers` is 0.
pub fn fallible<'env, T, E, W>(
    workers: usize,
    room: Room,
    name: &str,
    bytes: Option<(u64, W)>,
) -> (Sender<T>, TryStream<'env, T, E>)
where
    T: Send + 'static,
    E: Send + 'env,
    W: Fn(&T) -> u64 + Send + 'env,
{
    let room = Arc::new(room);
    let (sender, receiver) = queue(workers, Arc::clone(&room), |_, item| item);
    let limit = bytes.as_ref().map(|(bytes, _)| *bytes);
    let weigher = match bytes {
        Some((bytes, weigh)) => Weigher::of_items(bytes, weigh),
        None => of_batches(&room),
    };
    let (feed, supply) = (receiver.feed(), receiver.supply());
    let node = Node::source("post").named(name.to_owned());
    let mut stream = Stream::pulled_in_batches(receiver, node, Some(weigher)).fed(feed).workers(workers);
    if !NO_ACCOUNT_OF_POSTS.is_on() {
        stream = stream.supplied(supply);
    }
    stream.draft.outline.plan.settings.window_bytes = limit;
    (sender, stream.window(room.items()).window_behind(room.batches()))
}

/// Weighs batches as `room` does.
fn of_batches<'env, U: 'env>(room: &Arc<Room>) -> Weigher<'env, U> {
    let room = Arc::clone(room);
    let weigh = Box::new(move |cell: &Cell<U>| room.weight(cell.len() as usize));
    Weigher { limit: Room::WHOLE, resume: Room::WHOLE / 2, weigh }
}
