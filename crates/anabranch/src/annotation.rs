//! Annotations on a loop: the loop stays a loop, and [`#[stream]`](crate::stream) runs it on all cores.
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
//!         let Some(block) = read_block(input)? else { break }; // the source: one block after the other
//!         #[stage(replicate)]
//!         let block = block.to_ascii_uppercase();              // on all cores
//!         out.write_all(&block)?;                              // serial again, in order
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
//! Take the annotations away and the function still compiles and does the same. `#[stream(off)]` does that: the loop
//! runs as it is written. `#[stream(crate = name)]` is for those who have this crate by another name.
//!
//! The idea is SPar's: *C++11 attributes for stream parallelism* (Griebler and others), as used in *Stream parallelism
//! annotations for data compression*; here the attributes are Rust's and the loop keeps what Rust promises.
//!
//! # Source and stages
//!
//! The statements of the loop's body are cut into parts that run at the same time, for different items:
//!
//! - What stands before the first `#[stage]` is the **source**, with the head of the loop.
//! - `#[stage]` before a statement begins a **serial** stage: it runs for one item after the other, in order, and may
//!   change variables of the function.
//! - `#[stage(replicate)]` makes a stage of that one statement which runs for several items at once. It may read
//!   variables of the function.
//! - Statements without an annotation belong to the serial stage, or the source, before them. Behind a replicated
//!   stage they make a serial stage of their own. So whatever is not marked with `replicate` is serial, and in order.
//!
//! A stage is any statement of the body itself: an expression, a `let` with a pattern, a block, a loop, an `if`. What
//! a later part uses of the variables that the body binds is handed on, by value; what the function binds is borrowed.
//! A `let x;` without a value belongs to the first stage that mentions `x`.
//!
//! # Leaving the loop
//!
//! `break`, `break value`, `continue`, `return` and `?`, with or without labels, mean what they mean in the loop: the
//! items before this one are finished, nothing of the items after it is seen by a stage behind, and the function goes
//! on as the loop would have. In functions that return `Result`, `Option` or `ControlFlow`; the error need not be
//! `Send` if what `?` found is.
//!
//! The source and earlier serial stages may be up to a window of items ahead. Where that could be seen, since what they
//! change is used behind a loop that a later stage may leave by `break`, it is a compile error that says what to do;
//! `may_run_ahead` says that it does not matter. What a `&mut` parameter points to counts as used behind the loop, and so
//! does what a variable has borrowed with `&mut`, by a method or in a closure. What cannot be seen is what is changed
//! without `&mut` (atomics, cells, locks, files), through a parameter that holds a `&mut` unknown to its type, through a
//! value that the part itself has put a `&mut` into, or by a method with a name that reads in the standard library, as `get`,
//! where there are other reasons for the variable to be `mut`. What the caller sees after a `return` or `?`, such as how far a reader was read, may be ahead too.
//!
//! # Options
//!
//! `#[to_stream(..)]` stands before `loop`, `while`, `while let`, `for`, or a block with one of them in it:
//!
//! | option | means |
//! |---|---|
//! | `ordered`, `unordered` | stages see items in order (the default), or [as they are done](crate::Stream::unordered) |
//! | `window = 64` | [at most so many items](crate::Stream::window) under way |
//! | `workers = 4` | [so many threads](crate::Stream::workers) |
//! | `burst = 1` | [so many items claimed at once](crate::Stream::burst) |
//! | `schedule = on_demand`, `schedule = dealt` | replicas take items when they are free (the default), or in turn (not `unordered`) |
//! | `wait = park`, `wait = spin` | who waits sleeps (the default), or [spins](crate::Stream::spin) |
//! | `pool = &pool` | helpers come from a [pool](crate::Pool) |
//! | `cancel = &token` | a [token](crate::CancelToken) may end the loop |
//! | `report = \|report\| ..` | is called with the [`Report`](crate::Report) when the loop has ended |
//! | `title = ".."` | names the threads |
//! | `dedicated` | the source has a [thread of its own](crate::Stream::dedicated) |
//! | `may_run_ahead` | of the source: see above |
//!
//! `#[stage(..)]`:
//!
//! | option | means |
//! |---|---|
//! | `replicate`, `replicate = 4` | several at once: as many as there are workers, or [so many](crate::Stream::replicate) |
//! | `state(name = ..)` | each worker has a variable of that name and type of its own, made so |
//! | `state = \|\| ..` | the same, for the one variable of the function that the stage changes |
//! | `name = ".."` | the stage's name in reports |
//! | `ordered` | items come in order: the default, and an error behind `unordered` |
//! | `unordered` | from here on items are taken as they are done |
//! | `dedicated` | a serial stage has a thread of its own |
//! | `may_run_ahead` | of a serial stage: see above |
//! | `input(..)`, `output(..)` | what comes in and goes out, checked against what was found |
//!
//! From SPar: `ToStream` is `#[to_stream]`, `Stage` is `#[stage]`, `Replicate(n)` is `replicate = n`, `Input` and
//! `Output` may be left out. Its flag `-spar_ordered` is the default, `-spar_blocking` is `wait = park`, the default
//! too, and `-spar_ondemand` is `schedule = on_demand, window = 2 * replicas`.
//!
//! # What does not work
//!
//! - `return`, `?`, `break` and `continue` in the arguments of a macro work if those are expressions. A macro that
//!   returns by itself (`bail!`) cannot be seen through, and does not compile: write `return Err(..)`.
//! - Functions, constants and `use`s in the body are seen by all stages. They may not give a name of the loop's head or
//!   options another meaning, and a `macro_rules!` there may not say a variable of the loop: hand it over as an argument.
//! - `break 'outer value`, with the label of a `loop` around this one, and a value. Keep the value in a variable of the
//!   function: `found = Some(value); break;`, and behind the annotated loop `if let Some(value) = found { break value; }`.
//!   `break 'outer` alone works.
//! - A `let`, `break` or `continue` that a macro of yours writes for the body: write it out.
//! - What `return` gives and what `?` finds must be `Send` until it becomes what the function returns. `return Err(..)` of
//!   what can become a `Box<dyn Error>`, and `?` of other errors, work in a function that returns one; let what is called
//!   give `Box<dyn Error + Send + Sync>`. What is no `Send` at all, such as an `Rc`, make behind the loop.
//! - A serial stage may move a variable of the function (`all = add(all, item)`, `return all`, `found = item; break`) if
//!   no other part uses it, nothing else has its name in that stage and, where it is used behind the loop, it is `mut` and
//!   no later part has a `break`. Of a field, of `self`, of what two parts use, and of states it may not: `std::mem::take` it.
//!   Nor may the head of the loop move one (`while let Some(node) = list`), or a part a `let mut x;` that got no value.
//! - Bindings with a `#[cfg(..)]` do not cross borders: put the `cfg!` into their value.
//! - Names are told apart by their letters: what a function does to a variable counts for another one of that name too, and
//!   where a macro writes the whole function, one from the macro and one from its caller are taken for one.
//! - An option may not use what the loop changes (`window = stack.len()`): `let window = ..` before the loop.
//! - What a stage uses must be `Send`, and what it takes from a part before may not borrow from a variable that this part
//!   binds or changes, such as a buffer that it fills again: hand on `line.trim().to_owned()`.
//! - Stages run on changing threads: thread-locals are not the loop's, and the stack is that of a thread, 2 MiB if
//!   `RUST_MIN_STACK` does not say otherwise.
//! - A variable of the body is dropped when the last part that uses it is done with it.
//! - Whether a method changes its variable is the compiler's to find out: its message then speaks of closures.
//! - `async` functions.
//!
//! # What the attribute writes
//!
//! Calls of [`Stream`](crate::Stream), and [`Exit`] where the loop may be left. Nobody has to call what is below.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// How a stage leaves its loop: the error of a stream that was made of a loop.
pub enum Exit<'env, B, R> {
    /// By `break`, with its value.
    Break(B),
    /// By `return` or `?`: makes what the function returns. What it is made of crosses threads, not the value.
    Return(Box<dyn FnOnce() -> R + Send + 'env>),
    /// To a label outside of the loop, by its number.
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
    /// The function returns what `value` gives.
    pub fn returns(value: impl FnOnce() -> R + Send + 'env) -> Self {
        Exit::Return(Box::new(value))
    }

    /// The function returns what a `?` found.
    pub fn asks<Q>(residual: Q) -> Self
    where
        Q: Send + 'env,
        R: Answer<Q>,
    {
        Exit::Return(Box::new(move || R::answer(residual)))
    }
}

/// What the function returns.
pub fn give<'env, R>(value: Box<dyn FnOnce() -> R + Send + 'env>) -> R {
    value()
}

/// What a part of a loop gives that calls macros of which nothing is known. No function returns it: a macro that returns
/// by itself does not compile then, where it would only end the part:
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

/// A source that calls such macros.
pub fn guarded<T>(mut next: impl FnMut() -> NoReturnFromMacros<T>) -> impl FnMut() -> T {
    move || next().0
}

/// What a stage makes of the error of a `return Err(..)`, where the function returns `R`.
pub struct Fails<R>(PhantomData<fn() -> R>);

impl<R> fmt::Debug for Fails<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fails")
    }
}

impl<R> Fails<R> {
    /// Makes the same for all errors...
    #[allow(clippy::new_without_default, reason = "nobody asks for a default")]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

type Sendable<'e> = Box<dyn std::error::Error + Send + Sync + 'e>;

impl<'e, T> Fails<Result<T, Box<dyn std::error::Error + 'e>>> {
    /// ... but of a boxed error that does not cross threads one that does: what becomes one becomes the other as well.
    pub fn keep(self) -> fn(Sendable<'e>) -> Sendable<'e> {
        |error| error
    }
}

/// [`Fails::keep`] for all other errors: they cross as they are.
pub trait Keep: Sized {
    /// Gives the error on.
    fn keep<E>(self) -> fn(E) -> E {
        |error| error
    }
}

impl<R> Keep for Fails<R> {}

/// What may stand before a `?`.
#[diagnostic::on_unimplemented(
    message = "`?` in an annotated loop is for `Result`, `Option` and `ControlFlow`, not for `{Self}`"
)]
pub trait Ask {
    /// What it is if the loop goes on.
    type Value;
    /// What is left of it if not.
    type Residual;
    /// Whether the loop goes on.
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

/// What a function may return that has a `?` in it.
#[diagnostic::on_unimplemented(
    message = "`?` cannot turn what it found, `{Q}`, into what the function returns, `{Self}`",
    label = "the function returns something else"
)]
pub trait Answer<Q> {
    /// What the function returns.
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
