//! Rust-SSP's six macros.

/// Makes a pipeline of stages, starts it and gives the [`Pipeline`](crate::ssp::Pipeline) to post to.
///
/// All stages but the last turn items into items ([`InOut`](crate::ssp::InOut)); what the last gives
/// ([`In`](crate::ssp::In)) is collected.
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
    ($($stage:expr),+ $(,)?) => {
        $crate::__ssp_line!(bind [] $($stage),+)
    };
}

/// Binds the stages, since the first must know what the last asks for; then joins them one by one.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_line {
    (bind [$($bound:ident)*] $stage:expr $(, $rest:expr)*) => {{
        let stage = $crate::ssp::stage($stage);
        $crate::__ssp_line!(bind [$($bound)* stage] $($rest),*)
    }};
    (bind [$($bound:ident)+]) => {{
        let line = $crate::ssp::Line::open(&[$($bound.wish()),+]);
        $crate::__ssp_line!(join line, $($bound)+)
    }};
    (join $line:expr, $last:ident) => {
        $last.close($line)
    };
    (join $line:expr, $stage:ident $($rest:ident)+) => {
        $crate::__ssp_line!(join $stage.join($line), $($rest)+)
    };
}

/// A stage with replicas, which run at once: `parallel!(stage, replicas)`, in any place, also the last.
///
/// `stage` is an expression for a closure, a function or a struct; it is evaluated once for each replica, here
/// and now. `replicas` is an `i32`.
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

/// A stage that runs for one item at a time, in any order: `sequential!(stage)`.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_sequential {
    ($stage:expr $(,)?) => {
        $crate::ssp::Sequential::new($stage, false)
    };
}

/// A stage that runs for one item at a time, in the order of the posts: `sequential_ordered!(stage)`, in any place.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_sequential_ordered {
    ($stage:expr $(,)?) => {
        $crate::ssp::Sequential::new($stage, true)
    };
}

/// A last stage that collects the items as they are done.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_collect {
    () => {
        $crate::ssp::Sequential::collecting(|item: _| item, false)
    };
}

/// A last stage that collects the items in the order of their posts.
#[doc(hidden)]
#[macro_export]
macro_rules! __ssp_collect_ordered {
    () => {
        $crate::ssp::Sequential::collecting(|item: _| item, true)
    };
}
