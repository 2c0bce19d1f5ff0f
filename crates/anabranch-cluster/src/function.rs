//! A function that is called on a cluster.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::code;
use crate::error::{Error, RemoteError};
use crate::functions::{Functions, Typed, catch, undecodable, unencodable};
use crate::journal::Journal;
use crate::program::{Answer, Run};
use crate::report::CallReport;

/// A function of a [`Cluster`](crate::Cluster). Streams call it by
/// [`map_remote`](crate::prelude::MapRemote::map_remote). Its clones are the same function.
pub struct Function<T, U, E> {
    place: Place<T, U, E>,
    /// The name and the types, for messages.
    signature: Arc<str>,
    /// The number of the next [`call`](Self::call).
    next: Arc<AtomicU64>,
    journal: Option<Journal>,
}

/// The number of first items, computed here, that a release build looks at.
const FIRST_CHECKS: u64 = 8;

enum Place<T, U, E> {
    /// Looks at this number of further items: whether they would be the same on a worker.
    Here(Typed<T, U, E>, Arc<AtomicU64>),
    Away(Arc<Run>),
}

impl<T, U, E> Function<T, U, E>
where
    T: Serialize + DeserializeOwned + 'static,
    U: Serialize + DeserializeOwned + 'static,
    E: Serialize + DeserializeOwned + 'static,
{
    pub(crate) fn here(functions: &Functions, name: &str) -> Result<Self, Error> {
        let (f, signature) = functions.typed(name)?;
        Ok(Self::new(Place::Here(f, Arc::new(AtomicU64::new(FIRST_CHECKS))), &signature))
    }

    pub(crate) fn away(run: Run, signature: &str) -> Self {
        Self::new(Place::Away(Arc::new(run)), signature)
    }

    fn new(place: Place<T, U, E>, signature: &str) -> Self {
        Self { place, signature: signature.into(), next: Arc::default(), journal: None }
    }

    /// Lets this machine work too, with as many threads as it has processors. It takes items from the queue as the other workers do.
    ///
    /// An item that ends the process of its worker ends the program, if it is taken here.
    ///
    /// # Errors
    /// If the connection of the worker cannot be made.
    pub fn or_local(self) -> Result<Self, Error> {
        if let Place::Away(run) = &self.place {
            run.work_here()?;
        }
        Ok(self)
    }

    /// Lets streams go on where a journal says that the sink has come to: [`map_remote`](crate::prelude::MapRemote::map_remote) skips
    /// the items whose results are stored. [`Journal`] says what the program must do.
    pub fn resume(mut self, journal: &Journal) -> Self {
        self.journal = Some(journal.clone());
        self
    }

    /// How many items a stream skips.
    pub(crate) fn skips(&self) -> u64 {
        self.journal.as_ref().map_or(0, Journal::delivered)
    }

    /// Calls the function for one item. The calls are numbered in the order in which they are made.
    ///
    /// The future needs no runtime. If it is dropped, the call is given up.
    ///
    /// # Errors
    /// [`RemoteError`] says why there is no result.
    pub fn call(&self, item: T) -> impl Future<Output = Result<U, RemoteError<E>>> + Send + use<T, U, E>
    where
        T: Send,
        U: Send,
        E: Send,
    {
        self.numbered(self.next.fetch_add(1, Ordering::Relaxed), item)
    }

    /// Calls the function for the item with this number.
    pub(crate) fn numbered(
        &self,
        number: u64,
        item: T,
    ) -> impl Future<Output = Result<U, RemoteError<E>>> + Send + use<T, U, E>
    where
        T: Send,
        U: Send,
        E: Send,
    {
        let made = match &self.place {
            Place::Here(f, checks) => Ok(self.compute(number, item, f, checks)),
            Place::Away(run) => match run.code(|| self.encode(&item)) {
                Ok(body) => {
                    drop(item);
                    Err((Arc::clone(run), Arc::clone(&self.signature), run.call(body.into())))
                }
                Err(message) => Ok(Err(RemoteError::Undecodable { item: number, message })),
            },
        };
        async move {
            match made {
                Ok(result) => result,
                Err((run, signature, answer)) => {
                    let answer = answer.await;
                    run.code(|| decoded(number, answer, &signature))
                }
            }
        }
    }

    /// The code of an item. A debug build looks whether it is the same on the other side.
    fn encode(&self, item: &T) -> Result<Vec<u8>, String> {
        let code = code::encode(item);
        let code = match code {
            Ok(code) if cfg!(debug_assertions) => code::check::<T>(&code).map(|_| code),
            code => code,
        };
        code.map_err(|error| unencodable("an item", &self.signature, &error))
    }

    /// Computes an item here. If it is looked at, it and its result must be the same on a worker.
    fn compute(
        &self,
        number: u64,
        item: T,
        f: &Typed<T, U, E>,
        checks: &AtomicU64,
    ) -> Result<U, RemoteError<E>> {
        let computed = |item| match catch(|| f(item)) {
            Ok(result) => result.map_err(RemoteError::Own),
            Err(message) => Err(RemoteError::Panic { item: number, message }),
        };
        let (order, less) = (Ordering::Relaxed, |left: u64| left.checked_sub(1));
        let is_looked_at = cfg!(debug_assertions) || checks.fetch_update(order, order, less).is_ok();
        if !is_looked_at {
            return computed(item);
        }
        let unlike = |what, error| RemoteError::Undecodable {
            item: number,
            message: unencodable(what, &self.signature, &error),
        };
        let same = code::encode(&item).and_then(|code| code::check::<T>(&code));
        let copy = same.map_err(|error| unlike("an item", error))?;
        // In a debug build the function sees what a worker would see.
        let result = computed(if cfg!(debug_assertions) { copy } else { item });
        let code = match &result {
            Ok(value) => code::encode(value).and_then(|code| code::check::<U>(&code).map(drop)),
            Err(RemoteError::Own(error)) => {
                code::encode(error).and_then(|code| code::check::<E>(&code).map(drop))
            }
            Err(_) => Ok(()),
        };
        code.map_err(|error| unlike("a result", error))?;
        result
    }

    /// The report on the calls so far. `None` if the function runs here.
    pub fn report(&self) -> Option<CallReport> {
        match &self.place {
            Place::Here(..) => None,
            Place::Away(run) => Some(run.report()),
        }
    }
}

fn decoded<U: DeserializeOwned, E: DeserializeOwned>(
    item: u64,
    answer: Answer,
    signature: &str,
) -> Result<U, RemoteError<E>> {
    let unknown = |error| undecodable("a result", signature, &error);
    match answer {
        Answer::Value(code) => {
            code::decode(&code).map_err(|error| RemoteError::Undecodable { item, message: unknown(error) })
        }
        Answer::Error(code) => Err(match code::decode(&code) {
            Ok(error) => RemoteError::Own(error),
            Err(error) => RemoteError::Undecodable { item, message: unknown(error) },
        }),
        Answer::Panic(message) => Err(RemoteError::Panic { item, message }),
        Answer::Undecodable(message) => Err(RemoteError::Undecodable { item, message }),
        Answer::Lost { workers } => Err(RemoteError::Lost { item, workers }),
        Answer::Refused(text) => Err(RemoteError::Refused(text)),
        Answer::TooLarge { size, limit, side } => Err(RemoteError::TooLarge { item, size, limit, side }),
        Answer::Closed(text) => Err(RemoteError::Closed(text)),
    }
}

impl<T, U, E> Clone for Function<T, U, E> {
    fn clone(&self) -> Self {
        Self {
            place: self.place.clone(),
            signature: Arc::clone(&self.signature),
            next: Arc::clone(&self.next),
            journal: self.journal.clone(),
        }
    }
}

impl<T, U, E> Clone for Place<T, U, E> {
    fn clone(&self) -> Self {
        match self {
            Self::Here(f, checks) => Self::Here(Arc::clone(f), Arc::clone(checks)),
            Self::Away(run) => Self::Away(Arc::clone(run)),
        }
    }
}

impl<T, U, E> fmt::Debug for Function<T, U, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Here(..) => f.write_str("Function(here)"),
            Place::Away(run) => f.debug_tuple("Function").field(run).finish(),
        }
    }
}
