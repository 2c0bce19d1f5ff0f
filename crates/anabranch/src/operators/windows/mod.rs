//! Windows over the items of a stream: which items are in one window, and what is computed of them.

mod aggregate;
mod blocks;
mod count;
mod groups;
mod keys;
mod late;
mod layout;
mod machine;
mod merge;
mod results;
mod session;
mod split;
mod stream;
mod time;
mod whole;

pub(crate) use aggregate::{Aggregate, Collect, Combine};
pub(crate) use blocks::{Gather, partition};
pub(crate) use layout::Layout;
pub(crate) use merge::Merge;
pub(crate) use split::{Chunk, Shard, Split};
pub(crate) use whole::Whole;

pub use late::OnLate;

/// A window over the whole stream, and what was computed of its items.
///
/// For windows by count, `start` and `end` are numbers of items, beginning at 0. For windows by time they are times. The
/// window has the items from `start` up to and without `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window<V> {
    /// The number or the time at which the window begins.
    pub start: i64,
    /// The number or the time before which the window ends.
    pub end: i64,
    /// The items of the window, or what was computed of them.
    pub value: V,
}

/// A window over the items with one key, and what was computed of them.
///
/// For windows by count, `start` and `end` are numbers of the key's own items. The rest is as for [`Window`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyedWindow<K, V> {
    /// The key of the items.
    pub key: K,
    /// The number or the time at which the window begins.
    pub start: i64,
    /// The number or the time before which the window ends.
    pub end: i64,
    /// The items of the window, or what was computed of them.
    pub value: V,
}

/// Which items of a stream are in one window: [`CountWindows`], [`TimeWindows`] or [`SessionWindows`].
pub trait Windows<T>: sealed::Sealed {
    /// The function that returns the time of an item.
    #[doc(hidden)]
    type Time: Fn(&T) -> i64 + Send + Sync;
    /// The function that takes late items.
    #[doc(hidden)]
    type Late: FnMut(T) + Send;

    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn parts(self) -> Parts<Self::Time, Self::Late>;
}

/// The parts of a specification of windows.
pub(crate) struct Parts<F, L> {
    pub(crate) layout: Layout,
    pub(crate) time: F,
    pub(crate) late: L,
}

mod sealed {
    pub trait Sealed {}
}

/// Windows of a number of items.
///
/// A window comes out with its last item. At the end of the stream, one more window comes out if there are items that were
/// in no window yet; it begins where the next window would have begun, and is shorter.
///
/// ```
/// use anabranch::{CountWindows, Stream};
///
/// let sums = |windows| {
///     let windows = Stream::from_iter(1..=5).aggregate_windows(windows, |n| n, |a, b| a + b);
///     windows.map(|window| window.value).collect::<Vec<i32>>()
/// };
/// assert_eq!(sums(CountWindows::tumbling(2)), [1 + 2, 3 + 4, 5]);
/// assert_eq!(sums(CountWindows::sliding(3, 1)), [1 + 2 + 3, 2 + 3 + 4, 3 + 4 + 5]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountWindows {
    size: i64,
    step: i64,
}

impl CountWindows {
    /// Windows of `size` items, each behind the one before it.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    pub fn tumbling(size: usize) -> Self {
        Self::sliding(size, size)
    }

    /// Windows of `size` items that begin with each `step`th item. If `step` is larger than `size`, the items between two
    /// windows are in none.
    ///
    /// # Panics
    /// If `size` or `step` is 0.
    #[track_caller]
    pub fn sliding(size: usize, step: usize) -> Self {
        assert!(size > 0, "`CountWindows` of {size} items: a window holds 1 item or more");
        assert!(step > 0, "`CountWindows::sliding({size}, 0)`: windows are 1 item or more apart");
        let items = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        Self { size: items(size), step: items(step) }
    }
}

impl sealed::Sealed for CountWindows {}

impl<T> Windows<T> for CountWindows {
    type Time = fn(&T) -> i64;
    type Late = fn(T);

    #[allow(private_interfaces)]
    fn parts(self) -> Parts<Self::Time, Self::Late> {
        let layout = Layout::Count { size: self.size, step: self.step };
        Parts { layout, time: |_| 0, late: drop }
    }
}

/// Windows of a length of time, by the time that each item has.
///
/// Times and lengths have one unit, which the program chooses. Windows begin at the multiples of their step, so the windows
/// of all keys begin at the same times. Windows without items do not come out.
///
/// The *watermark* is the greatest time of the items so far, minus the [lateness](Self::lateness). A window closes, and comes
/// out, when the watermark reaches its end; at the end of the stream all windows close. **An item is late if one of its
/// windows has closed before it came.** It is then in no window: it is dropped, or given to [`on_late`](Self::on_late).
///
/// Times should be further from the least and the greatest `i64` than a window is long.
///
/// ```
/// use anabranch::{Stream, TimeWindows};
///
/// // Seconds and pages.
/// let visits = [(3, 1), (58, 4), (61, 2), (59, 8), (130, 5)];
/// let minutes = TimeWindows::tumbling(60, |visit: &(i64, u32)| visit.0).lateness(10);
/// let pages = Stream::from_iter(visits).aggregate_windows(minutes, |visit| visit.1, |a, b| a + b);
/// let pages: Vec<_> = pages.map(|window| (window.start, window.value)).collect();
/// assert_eq!(pages, [(0, 13), (60, 2), (120, 5)]);
/// ```
#[derive(Clone, Copy)]
pub struct TimeWindows<F, L = ()> {
    length: i64,
    step: i64,
    lateness: i64,
    time: F,
    late: L,
}

impl<F, L> std::fmt::Debug for TimeWindows<F, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { length, step, lateness, .. } = self;
        f.debug_struct("TimeWindows")
            .field("length", length)
            .field("step", step)
            .field("lateness", lateness)
            .finish_non_exhaustive()
    }
}

impl<F> TimeWindows<F> {
    /// Windows of `length` units of time, each behind the one before it. `time` returns the time of an item.
    ///
    /// # Panics
    /// If `length` is not 1 or more.
    #[track_caller]
    pub fn tumbling<T>(length: i64, time: F) -> Self
    where
        F: Fn(&T) -> i64,
    {
        Self::sliding(length, length, time)
    }

    /// Windows of `length` units of time that begin at each multiple of `step`. If `step` is larger than `length`, items
    /// between two windows are in none.
    ///
    /// # Panics
    /// If `length` or `step` is not 1 or more.
    #[track_caller]
    pub fn sliding<T>(length: i64, step: i64, time: F) -> Self
    where
        F: Fn(&T) -> i64,
    {
        assert!(length > 0, "`TimeWindows` of {length} units of time: a window is 1 unit or longer");
        assert!(
            step > 0,
            "`TimeWindows::sliding({length}, {step}, ..)`: windows are 1 unit of time or more apart"
        );
        Self { length, step, lateness: 0, time, late: () }
    }
}

impl<F, L> TimeWindows<F, L> {
    /// Lets windows stay open for `lateness` units of time longer, for items that come out of order.
    ///
    /// # Panics
    /// If `lateness` is negative.
    #[track_caller]
    pub fn lateness(self, lateness: i64) -> Self {
        assert!(lateness >= 0, "`lateness({lateness})`: a lateness is 0 or more");
        Self { lateness, ..self }
    }

    /// Gives late items to `f`, in the order in which they came, one at a time.
    ///
    /// ```
    /// use anabranch::{Stream, TimeWindows};
    ///
    /// let mut late = Vec::new();
    /// let windows = TimeWindows::tumbling(10, |time: &i64| *time).on_late(|time| late.push(time));
    /// let counts = Stream::from_iter([1, 9, 12, 3, 13]).aggregate_windows(windows, |_| 1, |a, b| a + b);
    /// assert_eq!(counts.map(|window| window.value).collect::<Vec<i32>>(), [2, 2]);
    /// assert_eq!(late, [3]); // its window had closed when 12 came
    /// ```
    pub fn on_late<T, C>(self, f: C) -> TimeWindows<F, OnLate<C>>
    where
        F: Fn(&T) -> i64,
        C: FnMut(T),
    {
        let Self { length, step, lateness, time, .. } = self;
        TimeWindows { length, step, lateness, time, late: OnLate(f) }
    }
}

impl<F, L> sealed::Sealed for TimeWindows<F, L> {}

impl<T, F, L> Windows<T> for TimeWindows<F, L>
where
    F: Fn(&T) -> i64 + Send + Sync,
    L: late::Late<T>,
{
    type Time = F;
    type Late = L::Call;

    #[allow(private_interfaces)]
    fn parts(self) -> Parts<F, L::Call> {
        let Self { length, step, lateness, time, late } = self;
        Parts { layout: Layout::Time { length, step, lateness }, time, late: late.call() }
    }
}

/// Windows that end with a gap: a *session* is a stretch of items of which each is less than `gap` behind the one before it.
///
/// `start` is the time of the first item of the session, and `end` that of the last item plus the gap. The watermark is that
/// of [`TimeWindows`], rounded down to a multiple of a sixteenth of the gap. A session closes when the watermark reaches its
/// end. **An item is late if it belongs to no session that is open, and the watermark has reached its time plus the gap.**
///
/// An item that comes between two open sessions makes one session of them. Its items are in the order in which they came, so
/// what was computed of items of one session between which items of another one came is combined when the session closes.
///
/// ```
/// use anabranch::{SessionWindows, Stream};
///
/// let clicks = [("ann", 10), ("bob", 12), ("ann", 15), ("ann", 31), ("bob", 33)];
/// let sessions = SessionWindows::new(10, |click: &(&str, i64)| click.1);
/// let counts = Stream::from_iter(clicks).aggregate_windows_by_key(|click| click.0, sessions, |_| 1, |a, b| a + b);
/// let counts: Vec<_> = counts.map(|session| (session.key, session.start, session.value)).collect();
/// assert_eq!(counts, [("bob", 12, 1), ("ann", 10, 2), ("ann", 31, 1), ("bob", 33, 1)]);
/// ```
#[derive(Clone, Copy)]
pub struct SessionWindows<F, L = ()> {
    gap: i64,
    lateness: i64,
    time: F,
    late: L,
}

impl<F, L> std::fmt::Debug for SessionWindows<F, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { gap, lateness, .. } = self;
        f.debug_struct("SessionWindows").field("gap", gap).field("lateness", lateness).finish_non_exhaustive()
    }
}

impl<F> SessionWindows<F> {
    /// Sessions that end when no item comes for `gap` units of time. `time` returns the time of an item.
    ///
    /// # Panics
    /// If `gap` is not 1 or more.
    #[track_caller]
    pub fn new<T>(gap: i64, time: F) -> Self
    where
        F: Fn(&T) -> i64,
    {
        assert!(gap > 0, "`SessionWindows::new({gap}, ..)`: a gap is 1 unit of time or longer");
        Self { gap, lateness: 0, time, late: () }
    }
}

impl<F, L> SessionWindows<F, L> {
    /// Lets sessions stay open for `lateness` units of time longer, for items that come out of order. An item that comes
    /// between two open sessions may join them.
    ///
    /// # Panics
    /// If `lateness` is negative.
    #[track_caller]
    pub fn lateness(self, lateness: i64) -> Self {
        assert!(lateness >= 0, "`lateness({lateness})`: a lateness is 0 or more");
        Self { lateness, ..self }
    }

    /// Gives late items to `f`, in the order in which they came, one at a time.
    ///
    /// ```
    /// use anabranch::{SessionWindows, Stream};
    ///
    /// let mut late = Vec::new();
    /// let sessions = SessionWindows::new(10, |time: &i64| *time).on_late(|time| late.push(time));
    /// let windows = Stream::from_iter([1, 9, 40, 5, 41]).windows(sessions);
    /// assert_eq!(windows.map(|window| window.value).collect::<Vec<_>>(), [vec![1, 9], vec![40, 41]]);
    /// assert_eq!(late, [5]);
    /// ```
    pub fn on_late<T, C>(self, f: C) -> SessionWindows<F, OnLate<C>>
    where
        F: Fn(&T) -> i64,
        C: FnMut(T),
    {
        let Self { gap, lateness, time, .. } = self;
        SessionWindows { gap, lateness, time, late: OnLate(f) }
    }
}

impl<F, L> sealed::Sealed for SessionWindows<F, L> {}

impl<T, F, L> Windows<T> for SessionWindows<F, L>
where
    F: Fn(&T) -> i64 + Send + Sync,
    L: late::Late<T>,
{
    type Time = F;
    type Late = L::Call;

    #[allow(private_interfaces)]
    fn parts(self) -> Parts<F, L::Call> {
        let Self { gap, lateness, time, late } = self;
        Parts { layout: Layout::Session { gap, lateness }, time, late: late.call() }
    }
}
