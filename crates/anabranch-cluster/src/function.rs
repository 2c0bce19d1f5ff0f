//! A function that is called on a cluster.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, RemoteError};
use crate::functions::{Functions, Typed, catch, decode, encode};
use crate::journal::Journal;
use crate::program::{Answer, Run};
use crate::report::CallReport;

/// A function of a [`Cluster`](crate::Cluster). Streams call it by
/// [`map_remote`](crate::prelude::MapRemote::map_remote). Its clones are the same function.
pub struct Function<T, U, E> {
    place: Place<T, U, E>,
    /// The number of the next [`call`](Self::call).
    next: Arc<AtomicU64>,
    journal: Option<Journal>,
}

enum Place<T, U, E> {
    Here(Typed<T, U, E>),
    Away(Arc<Run>),
}

impl<T, U, E> Function<T, U, E>
where
    T: Serialize + DeserializeOwned + 'static,
    U: Serialize + DeserializeOwned + 'static,
    E: Serialize + DeserializeOwned + 'static,
{
    pub(crate) fn here(functions: &Functions, name: &str) -> Result<Self, Error> {
        Ok(Self { place: Place::Here(functions.typed(name)?), next: Arc::default(), journal: None })
    }

    pub(crate) fn away(run: Run) -> Self {
        Self { place: Place::Away(Arc::new(run)), next: Arc::default(), journal: None }
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
            Place::Here(f) => Ok(catch(|| f(item))),
            Place::Away(run) => {
                let body = run.code(|| encode(&item));
                drop(item);
                Err(body.map(|body| (Arc::clone(run), run.call(body.into()))))
            }
        };
        async move {
            match made {
                Ok(Ok(result)) => result.map_err(RemoteError::Own),
                Ok(Err(message)) => Err(RemoteError::Panic { item: number, message }),
                Err(Ok((run, answer))) => {
                    let answer = answer.await;
                    run.code(|| decoded(number, answer))
                }
                Err(Err(message)) => Err(RemoteError::Undecodable { item: number, message }),
            }
        }
    }

    /// What is known of the calls so far. `None` if the function runs here.
    pub fn report(&self) -> Option<CallReport> {
        match &self.place {
            Place::Here(_) => None,
            Place::Away(run) => Some(run.report()),
        }
    }
}

fn decoded<U: DeserializeOwned, E: DeserializeOwned>(item: u64, answer: Answer) -> Result<U, RemoteError<E>> {
    let undecodable = |message| RemoteError::Undecodable { item, message };
    match answer {
        Answer::Value(code) => decode(&code).map_err(undecodable),
        Answer::Error(code) => Err(decode(&code).map_or_else(undecodable, RemoteError::Own)),
        Answer::Panic(message) => Err(RemoteError::Panic { item, message }),
        Answer::Undecodable(message) => Err(undecodable(message)),
        Answer::Lost { workers } => Err(RemoteError::Lost { item, workers }),
        Answer::Refused(text) => Err(RemoteError::Refused(text)),
        Answer::TooLarge { size, limit, side } => Err(RemoteError::TooLarge { item, size, limit, side }),
        Answer::Closed(text) => Err(RemoteError::Closed(text)),
    }
}

impl<T, U, E> Clone for Function<T, U, E> {
    fn clone(&self) -> Self {
        Self { place: self.place.clone(), next: Arc::clone(&self.next), journal: self.journal.clone() }
    }
}

impl<T, U, E> Clone for Place<T, U, E> {
    fn clone(&self) -> Self {
        match self {
            Self::Here(f) => Self::Here(Arc::clone(f)),
            Self::Away(run) => Self::Away(Arc::clone(run)),
        }
    }
}

impl<T, U, E> fmt::Debug for Function<T, U, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Here(_) => f.write_str("Function(here)"),
            Place::Away(run) => f.debug_tuple("Function").field(run).finish(),
        }
    }
}
