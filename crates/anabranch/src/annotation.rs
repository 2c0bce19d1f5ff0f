//! Annotations on a loop. The loop stays a loop, and [`#[stream]`](crate::stream) runs it on all cores.
//!
//! ```
//! use std::io::{self, Read, Write};
//! # fn read_block(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
//! #     let mut block = Vec::new();
//! #     input.take(8).read_to_end(&mut block)?;
//! #     Ok((!block.is_empty()).then_some(block))
//! # }
//!
//! #[anabranch::stream]
//! fn shout(input: &mut (impl Read + Send), out: &mut (impl Write + Send)) -> io::Result<usize> {
//!     let mut blocks = 0;
//!     #[to_stream]
//!     loop {
//!         let Some(block) = read_block(input)? else { break }; // the source: reads one block after another
//!         #[stage(replicate)]
//!         let block = block.to_ascii_uppercase();              // replicated: runs on all cores
//!         out.write_all(&block)?;                              // serial: writes the blocks in order
//!         blocks += 1;
//!     }
//!     Ok(blocks)
//! }
//!
//! let mut out = Vec::new();
//! assert_eq!(shout(&mut &b"down the river"[..], &mut out)?, 2);
//! assert_eq!(out, b"DOWN THE RIVER");
//! # Ok::<(), io::Error>(())
//! ```
//!
//! If you remove the annotations, the function still compiles and does the same. `#[stream(off)]` does just
//! that: the loop runs as it is written. If your program has this crate under another name, write
//! `#[stream(crate = path)]`.
//!
//! The idea comes from SPar: *C++11 attributes for stream parallelism* (Griebler and others), as used in
//! *Stream parallelism annotations for data compression*. Here the attributes are Rust's, and the parallel
//! loop does exactly what the loop does.
//!
//! # Source and stages
//!
//! The statements of the loop's body are cut into parts. Different parts run at the same time, for different
//! items.
//!
//! - The statements before the first `#[stage]`, and the head of the loop, are the **source**.
//! - `#[stage]` before a statement begins a **serial** stage. It runs for one item after another, in order,
//!   and may change variables of the function.
//! - `#[stage(replicate)]` before a statement makes this one statement a **replicated** stage. It runs for
//!   several items at once. It may read variables of the function, but not change them.
//! - Statements without an annotation belong to the source or the serial stage before them. After a
//!   replicated stage they form a serial stage of their own. So everything that is not marked with
//!   `replicate` runs serially and in order.
//!
//! A stage can be any statement of the loop's body: an expression, a `let` with a pattern, a block, a loop,
//! or an `if`.
//!
//! A variable that the body binds is moved to the later parts that use it. A variable of the function is
//! borrowed. A `let x;` without a value belongs to the first part that uses `x`.
//!
//! # Leaving the loop
//!
//! `break`, `break value`, `continue`, `return` and `?` mean what they mean in the loop, with or without
//! labels. The items before the current one are finished, later stages see nothing of the items after it, and
//! the function continues as it would have after the loop. `return` works in every function, and `?` in functions that return a
//! `Result`, an `Option` or a `ControlFlow`. The error type of the function need not be `Send` if the error that `?` receives
//! is `Send`.
//!
//! The source and earlier serial stages may have run ahead when a later stage leaves the loop, by up to a
//! window of items. The program does not compile if code after the loop could see this. That is so if such a part changes
//! something that is used after the loop, and a later stage leaves the loop by `break` or goes on at an outer label. The option
//! `may_run_ahead` says that it does not matter.
//!
//! The compiler decides this by types. The names of methods and macros do not matter. As long as the parts that may run
//! ahead hold their borrows, everything that is used after the loop must be borrowable by `&`. So a part that only reads is
//! accepted. A part that changes something is rejected, whether it does so by a method, a closure or a macro, or through
//! another variable, an iterator, an item of the loop, or a `&mut` parameter, which the caller uses after the loop. The
//! attribute reports simple changes, such as assignments. The compiler reports all others: the variable cannot be borrowed
//! after the loop, because a borrow before it is used until the `break`.
//!
//! ```compile_fail,E0502
//! #[anabranch::stream]
//! fn first_long(mut lines: Vec<String>) -> (Option<String>, Vec<String>) {
//!     let mut found = None;
//!     #[to_stream]
//!     while let Some(line) = lines.pop() { // the source may have taken more lines than the loop would have
//!         #[stage(replicate)]
//!         let length = line.chars().count();
//!         if length > 80 {
//!             found = Some(line);
//!             break;                       // the borrow of `lines` is used until here
//!         }
//!     }
//!     (found, lines)                       // `lines` cannot be borrowed
//! }
//! ```
//!
//! This check does not find changes without `&mut` (of atomics, cells, locks, files and thread-local variables), changes
//! through a parameter whose type hides a `&mut`, or what a variable does when it is dropped.
//!
//! A `return` or a `?` may also leave the source ahead, and this is not an error. The caller may then see,
//! for example, that a reader was read further than the loop would have read it.
//!
//! # Options
//!
//! `#[to_stream(..)]` is written before a `loop`, `while`, `while let` or `for`, or before a block that
//! contains one:
//!
//! | option | meaning |
//! |---|---|
//! | `ordered`, `unordered` | stages take items in order (the default), or [in the order in which they finish](crate::Stream::unordered) |
//! | `window = 64` | at most this many items are [in the stream](crate::Stream::window) at a time |
//! | `workers = 4` | the [number of threads](crate::Stream::workers) |
//! | `burst = 1` | how many items a thread [claims at once](crate::Stream::burst) |
//! | `schedule = on_demand`, `schedule = dealt` | replicas take items when they are free (the default), or in turn (not with `unordered`) |
//! | `wait = park`, `wait = spin` | waiting threads sleep (the default), or [spin](crate::Stream::with_plan) |
//! | `pool = &pool` | the helping threads come from a [pool](crate::Pool) |
//! | `cancel_by = &token` | a [token](crate::CancelToken) can end the loop |
//! | `report = \|report\| ..` | called with the [`Report`](crate::Report) when the loop has ended |
//! | `title = ".."` | the name of the threads |
//! | `dedicated` | the source has a [thread of its own](crate::Source::dedicated) |
//! | `may_run_ahead` | it does not matter that the source runs ahead, see above |
//!
//! `#[stage(..)]` is written before a statement of the loop's body:
//!
//! | option | meaning |
//! |---|---|
//! | `replicate`, `replicate = 4` | runs for several items at once: as many as there are workers, or [this many](crate::Stream::replicas) |
//! | `state(name = ..)` | each worker has its own variable `name`, which begins with this value |
//! | `state = \|\| ..` | the same, for the one variable of the function that the stage assigns or borrows with `&mut`; if there is none, for the one `mut` variable that it calls a method of |
//! | `name = ".."` | the name of the stage in reports |
//! | `ordered` | items come in order: the default, and an error after `unordered` |
//! | `unordered` | from this stage on, items come in the order in which they finish |
//! | `dedicated` | the stage, which must be serial, has a thread of its own |
//! | `may_run_ahead` | it does not matter that this serial stage runs ahead, see above |
//! | `input(..)`, `output(..)` | the variables that come in and go out, which the macro checks |
//!
//! SPar's `ToStream` is `#[to_stream]` here, `Stage` is `#[stage]`, and `Replicate(n)` is `replicate = n`.
//! `Input` and `Output` may be left out. SPar's flag `-spar_ordered` is the default here, and so is
//! `-spar_blocking`, which is `wait = park`. The flag `-spar_ondemand` is
//! `schedule = on_demand, window = 2 * replicas`.
//!
//! # Limits
//!
//! **Macros.** `return`, `?`, `break` and `continue` work in the arguments of a macro if these are expressions. A macro
//! that contains a `return` of its own, such as `bail!`, does not compile: write `return Err(..)`. Your own macros must
//! not contain a `let`, `break` or `continue` that acts on the loop's body. Write these statements in the body itself.
//! A macro that has the name of a standard macro, such as `vec!`, is treated as the standard macro, and must not
//! contain a `return` either. If a macro writes the whole function, a variable of the macro and a variable of its caller with
//! the same name are treated as one variable.
//!
//! **Items in the body.** Functions, constants and `use`s in the body are visible in all stages. They must
//! not change the meaning of a name in the loop's head or options. A `macro_rules!` in the body must not use
//! a variable of the loop: pass the variable as an argument.
//!
//! **`break` with a value out of an outer loop.** `break 'outer value` is not supported, `break 'outer` is.
//! Write `found = Some(value); break;`, and after the annotated loop `if let Some(value) = found { break
//! value; }`.
//!
//! **`Send`.** These must be `Send`:
//!
//! - what a stage uses, takes and hands on;
//! - the value of `return`, and the value that `?` found, until it becomes what the function returns.
//!
//! A function that returns a `Box<dyn Error>` may use `?` on errors that are `Send`, and `return Err(..)`
//! with anything that converts into a boxed error that is `Send`. A function called there should return a
//! `Box<dyn Error + Send + Sync>` itself. A value that can never be `Send`, such as an `Rc`, must be created
//! after the loop.
//!
//! **Borrows between parts.** What a stage takes from an earlier part must not borrow from a variable that
//! this part binds or changes, such as a buffer that is filled again for each item. Hand on an owned value:
//! `line.trim().to_owned()`.
//!
//! **Moving variables of the function.** A serial stage may move a variable, as in `all = add(all, item)`,
//! `return all` or `found = item; break`, under these conditions:
//!
//! - no other part uses the variable, and nothing else in this stage has its name;
//! - if it is used after the loop, it is declared `mut` and no later part has a `break`.
//!
//! It must not move a field, `self`, a state, or a variable that two parts use: take the value with
//! `std::mem::take`. The head of the loop must not move a variable (`while let Some(node) = list`), and no
//! part may move a `let mut x;` that has no value yet.
//!
//! **Names.** Rename a variable at the loop if it shadows another one, gets its value from it, and the shadowed variable is
//! used after the loop. A binding with a `#[cfg(..)]` does not cross a border between parts: use `cfg!` in its value.
//!
//! **Options.** An option must not use a variable that the loop changes, as in `window = stack.len()`: write
//! `let window = ..` before the loop.
//!
//! **Threads.** Stages run on changing threads. A thread-local variable is therefore not the one of the
//! calling thread. The stack is that of a thread of a stream: 4 MiB, or 16 MiB in a debug build, unless `RUST_MIN_STACK` says otherwise.
//!
//! **Drops.** A variable of the body is dropped when the last part that uses it has finished with it, which
//! may be earlier or later than in the loop.
//!
//! **Messages.** Parts are closures. If one part calls a method that changes a variable, and another part uses the
//! variable, the compiler reports the error, and its message mentions closures. The same holds if a replicated stage
//! calls such a method.
//!
//! **`async`.** The function must not be `async`.
//!
//! # What the attribute writes
//!
//! The attribute writes calls of [`Stream`](crate::Stream), and [`Exit`] where the loop may be left. The
//! items below are for these calls, and a program has no need to use them.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use crate::TryStream;

/// How a stage leaves its loop. It is the error type of the streams that the attribute writes.
pub enum Exit<'env, B, R> {
    /// By `break`, with its value.
    Break(B),
    /// By `return` or `?`. The closure creates the value that the function returns. The closure crosses
    /// threads, and the value does not have to.
    Return(Box<dyn FnOnce() -> R + Send + 'env>),
    /// To a label outside of the loop. The number stands for the label.
    Jump(usize),
}

impl<B, R> fmt::Debug for Exit<'_, B, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exit::Break(_) => "Break",
            Exit::Return(_) => "Return",
            Exit::Jump(_) => "Jump",
        })
    }
}

impl<'env, B, R> Exit<'env, B, R> {
    /// Leaves the loop because the function returns what `value` gives.
    pub fn returns(value: impl FnOnce() -> R + Send + 'env) -> Self {
        Exit::Return(Box::new(value))
    }

    /// Leaves the loop because `?` has found `residual`.
    pub fn asks<Q>(residual: Q) -> Self
    where
        Q: Send + 'env,
        R: Answer<Q>,
    {
        Exit::Return(Box::new(move || R::answer(residual)))
    }
}

/// Always returns `None`. The attribute puts code behind this call that never runs, so that the compiler checks the
/// borrows of that code.
#[inline(always)]
pub fn never() -> Option<&'static Infallible> {
    None
}

/// Creates the value that the function returns.
pub fn give<'env, R>(value: Box<dyn FnOnce() -> R + Send + 'env>) -> R {
    value()
}

/// The result of a part that calls unknown macros.
///
/// No function of the user returns this type. A macro with a `return` of its own would only end the part, and
/// so it must not compile:
///
/// ```compile_fail,E0308
/// macro_rules! done { () => { return Ok(()) } }
///
/// #[anabranch::stream]
/// fn sum(numbers: &[u64], sum: &mut u64) -> Result<(), String> {
///     #[to_stream]
///     for n in numbers {
///         #[stage(replicate)]
///         let square = n.checked_mul(*n).ok_or("too large")?;
///         #[stage]
///         *sum += square;
///         if *sum > 100 {
///             done!();
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct NoReturnFromMacros<T>(pub T);

/// Removes the wrapper from the result of a source.
pub fn guarded<T>(mut next: impl FnMut() -> NoReturnFromMacros<T>) -> impl FnMut() -> T {
    move || next().0
}

/// The items of a source that may fail.
pub fn items<T, E>(mut next: impl FnMut() -> Result<Option<T>, E>) -> impl Iterator<Item = Result<T, E>> {
    std::iter::from_fn(move || next().transpose())
}

/// Treats the errors for which `leaves` returns `true` as the end of the stream. The items that the stage has passed on are
/// finished, even if a later stage gives the order up.
pub fn leaving<'env, T, E>(stream: TryStream<'env, T, E>, leaves: fn(&E) -> bool) -> TryStream<'env, T, E>
where
    T: Send + 'env,
    E: Send + 'env,
{
    stream.leaving(leaves)
}

/// The option `wait = spin`.
pub fn spin(plan: &mut crate::Plan) {
    plan.settings.wait = crate::plan::Wait::Spin;
}

/// How the error of a `return Err(..)` crosses threads, in a function that returns `R`.
pub struct Fails<R>(PhantomData<fn() -> R>);

impl<R> fmt::Debug for Fails<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fails")
    }
}

impl<R> Fails<R> {
    /// Creates the value on which `keep` is called.
    #[allow(clippy::new_without_default, reason = "only the attribute creates one")]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

type Sendable<'e> = Box<dyn std::error::Error + Send + Sync + 'e>;

impl<'e, T> Fails<Result<T, Box<dyn std::error::Error + 'e>>> {
    /// Converts the error to a boxed error that is `Send`, if the function returns a boxed error that is not.
    /// Everything that converts into the one converts into the other as well.
    pub fn keep(self) -> fn(Sendable<'e>) -> Sendable<'e> {
        |error| error
    }
}

/// [`Fails::keep`] for all other return types: the error crosses threads as it is.
pub trait Keep: Sized {
    /// Returns a function that gives an error back unchanged.
    fn keep<E>(self) -> fn(E) -> E {
        |error| error
    }
}

impl<R> Keep for Fails<R> {}

/// The types on which `?` works in an annotated loop.
#[diagnostic::on_unimplemented(
    message = "`?` in an annotated loop works on `Result`, `Option` and `ControlFlow`, not on `{Self}`"
)]
pub trait Ask {
    /// The value with which the loop goes on.
    type Value;
    /// The part of the value that stops the loop: an error, `None` or a break.
    type Residual;
    /// Decides whether the loop goes on.
    fn ask(self) -> ControlFlow<Self::Residual, Self::Value>;
}

impl<T, E> Ask for Result<T, E> {
    type Value = T;
    type Residual = Result<Infallible, E>;

    fn ask(self) -> ControlFlow<Result<Infallible, E>, T> {
        match self {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
}

impl<T> Ask for Option<T> {
    type Value = T;
    type Residual = Option<Infallible>;

    fn ask(self) -> ControlFlow<Option<Infallible>, T> {
        match self {
            Some(value) => ControlFlow::Continue(value),
            None => ControlFlow::Break(None),
        }
    }
}

impl<B, C> Ask for ControlFlow<B, C> {
    type Value = C;
    type Residual = ControlFlow<B, Infallible>;

    fn ask(self) -> ControlFlow<ControlFlow<B, Infallible>, C> {
        match self {
            ControlFlow::Continue(value) => ControlFlow::Continue(value),
            ControlFlow::Break(value) => ControlFlow::Break(ControlFlow::Break(value)),
        }
    }
}

/// The types that a function with a `?` on `Q` may return.
#[diagnostic::on_unimplemented(
    message = "`?` found a `{Q}`, which cannot be converted into `{Self}`, the type that the function returns",
    label = "the function returns another type"
)]
pub trait Answer<Q> {
    /// Converts what `?` found into what the function returns.
    fn answer(residual: Q) -> Self;
}

impl<T, E, F: From<E>> Answer<Result<Infallible, E>> for Result<T, F> {
    fn answer(residual: Result<Infallible, E>) -> Self {
        match residual {
            Err(error) => Err(F::from(error)),
        }
    }
}

impl<T> Answer<Option<Infallible>> for Option<T> {
    fn answer(_: Option<Infallible>) -> Self {
        None
    }
}

impl<B, C> Answer<ControlFlow<B, Infallible>> for ControlFlow<B, C> {
    fn answer(residual: ControlFlow<B, Infallible>) -> Self {
        match residual {
            ControlFlow::Break(value) => ControlFlow::Break(value),
        }
    }
}
