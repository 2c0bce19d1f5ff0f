//! The six macros of Rust-SSP.

/// Creates a pipeline of stages and starts it. Returns the [`Pipeline`](crate::ssp::Pipeline) to post items
/// to.
///
/// Every stage but the last turns items into items ([`InOut`](crate::ssp::InOut)). The results of the last stage
/// ([`In`](crate::ssp::In)) are collected.
///
/// ```
/// use anabranch::ssp::*;
///
/// let pipeline = pipeline![
///     parallel!(|n: u64| if n % 3 == 0 { None } else { Some(n * n) }, 4),
///     collect_ordered!()
/// ];
/// for n in 1..=5 {
///     pipeline.post(n).unwrap();
/// }
/// assert_eq!(pipeline.collect(), [1, 4, 16, 25]);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_pipeline {
    ($($stage:expr),+ $(,)?) => {{
        let listed = $crate::ssp::listed::open();
        $crate::__ssp_listed!(listed $($stage),+)
    }};
}

/// Lists the stages one by one. Each is evaluated in a statement of its own, so what is temporary in it is
/// dropped before the next.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_listed {
    ($listed:ident $last:expr) => {
        $crate::ssp::listed::end(($listed,), $last)
    };
    ($listed:ident $stage:expr, $($rest:expr),+) => {{
        let listed = $crate::ssp::listed::then($listed, $stage);
        $crate::__ssp_listed!(listed $($rest),+)
    }};
}

/// A stage with replicas that run at the same time: `parallel!(stage, replicas)`. It may be any stage,
/// including the last.
///
/// `stage` is an expression for a closure, a function or a struct. It is evaluated at once, and once for each
/// replica. `replicas` is an `i32`.
///
/// # Panics
/// If `replicas` is 0 or less.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_parallel {
    ($stage:expr, $replicas:expr $(,)?) => {
        $crate::ssp::Parallel::new($replicas, || $stage)
    };
}

/// A stage that processes one item at a time, in any order: `sequential!(stage)`.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_sequential {
    ($stage:expr $(,)?) => {
        $crate::ssp::Sequential::new($stage, false)
    };
}

/// A stage that processes one item at a time, in the order of the posts: `sequential_ordered!(stage)`. It may
/// be any stage.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_sequential_ordered {
    ($stage:expr $(,)?) => {
        $crate::ssp::Sequential::new($stage, true)
    };
}

/// A last stage that collects the items in the order in which they finish.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_collect {
    () => {
        $crate::ssp::Sequential::collecting(|item: _| item, false)
    };
}

/// A last stage that collects the items in the order in which they were posted.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_collect_ordered {
    () => {
        $crate::ssp::Sequential::collecting(|item: _| item, true)
    };
}
