//! Failures of calls and of connections.

use std::error;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The environment variable with the address of the server, for [`Cluster::from_env`](crate::Cluster::from_env).
pub const ADDRESS: &str = "ANABRANCH_CLUSTER";

/// The reason why an item has no result.
///
/// Its [`Debug`](fmt::Debug) is a sentence, too, since `main` prints an error by it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteError<E> {
    /// The function returned this error.
    Own(E),
    /// The function panicked.
    Panic {
        /// The number of the item, from 0 on.
        item: u64,
        /// The message of the panic.
        message: String,
    },
    /// Every worker that had the item was lost: it ended, or it was not heard of for the time of a lease.
    Lost {
        /// The number of the item, from 0 on.
        item: u64,
        /// How many workers were lost with it.
        workers: u32,
    },
    /// The workers that are there have another version or other functions than this program. The text names both sides.
    Refused(String),
    /// The item or its result is not what the other side expects. The text names the function and its types.
    Undecodable {
        /// The number of the item, from 0 on.
        item: u64,
        /// The value that cannot be decoded, and the reason.
        message: String,
    },
    /// The item or its result is larger than the limit.
    TooLarge {
        /// The number of the item, from 0 on.
        item: u64,
        /// The length of its code, or of the code of its result, in bytes.
        size: u64,
        /// The limit, in bytes: [`ClusterOptions::body_limit`](crate::ClusterOptions::body_limit).
        limit: u64,
        /// The side that has the limit.
        side: String,
    },
    /// The source has ended before the items whose results are stored, as a [`Journal`](crate::Journal) says. So it is another source.
    EndedEarly {
        /// How many items the source had.
        items: u64,
        /// How many results are stored.
        stored: u64,
    },
    /// The connection to the server has ended for good.
    Closed(String),
}

impl<E: fmt::Display> fmt::Display for RemoteError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.say(f, E::fmt)
    }
}

impl<E: fmt::Debug> fmt::Debug for RemoteError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.say(f, E::fmt)
    }
}

impl<E> RemoteError<E> {
    fn say<'f>(
        &self,
        f: &mut fmt::Formatter<'f>,
        own: fn(&E, &mut fmt::Formatter<'f>) -> fmt::Result,
    ) -> fmt::Result {
        match self {
            Self::Own(error) => own(error, f),
            Self::Panic { item, message } => write!(f, "item {item} panicked: {message}"),
            Self::Lost { item, workers } => {
                write!(f, "item {item} was under way on {workers} workers, and each of them was lost")
            }
            Self::Refused(text) => f.write_str(text),
            Self::Undecodable { item, message } => write!(f, "item {item}: {message}"),
            Self::TooLarge { item, size, limit, side } => {
                write!(
                    f,
                    "item {item} or its result has {size} bytes, and the limit of {side} is {limit} bytes"
                )
            }
            Self::EndedEarly { items, stored } => write!(
                f,
                "the source has ended after {items} items, and the journal says that {stored} results are stored: it is the journal of another source"
            ),
            Self::Closed(text) => f.write_str(text),
        }
    }
}

impl<E: error::Error + 'static> error::Error for RemoteError<E> {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            // The message is that of the own error, so its cause follows.
            Self::Own(error) => error.source(),
            _ => None,
        }
    }
}

/// The reason why a connection, a function or a journal cannot be had.
///
/// Its [`Debug`](fmt::Debug) is the sentence of its [`Display`](fmt::Display), since `main` prints an error by it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No server answers.
    #[error("no NATS server answers at {url}: {cause}")]
    Connect {
        /// The address that was given, without its credentials.
        url: String,
        /// The message of the client.
        cause: String,
    },
    /// The server does not accept the credentials.
    #[error("the NATS server at {url} does not accept the credentials: {cause}")]
    Credentials {
        /// The address that was given, without its credentials.
        url: String,
        /// The message of the client.
        cause: String,
    },
    /// The server has no JetStream, or does not allow it for this account.
    #[error("the NATS server at {url} has no JetStream ({cause}): {cure}")]
    NoJetStream {
        /// The address that was given, without its credentials.
        url: String,
        /// The message of the server.
        cause: String,
        /// The remedy.
        cure: String,
    },
    /// The server does not allow this user what is needed.
    #[error(
        "the NATS server at {url} does not allow this user what is needed ({cause}): let the user publish to \"anabranch2.>\", \"$JS.API.>\", \"$JS.ACK.>\" and \"_INBOX.>\", and subscribe to \"anabranch2.>\" and \"_INBOX.>\""
    )]
    NotAllowed {
        /// The address that was given, without its credentials.
        url: String,
        /// The message of the server.
        cause: String,
    },
    /// The server takes only messages that are too small for its own requests.
    #[error(
        "the NATS server at {url} takes messages of at most {most} bytes, and {needed} bytes are needed: set a larger `max_payload`"
    )]
    SmallMessages {
        /// The address that was given, without its credentials.
        url: String,
        /// The `max_payload` of the server, in bytes.
        most: usize,
        /// The least that is needed, in bytes.
        needed: usize,
    },
    /// The address cannot be read.
    #[error("{url:?} is not the address of a NATS server: {cause}")]
    Address {
        /// The address that was given, without its credentials.
        url: String,
        /// The fault.
        cause: String,
    },
    /// The environment variable with the address is not set.
    #[error(
        "the environment variable {ADDRESS} names the server, such as nats://build:4222, and it is not set"
    )]
    NoAddress,
    /// The address or the server demands TLS, and this program is built without it.
    #[error("{url} needs TLS: build with the feature `tls` of the crate `anabranch-cluster`")]
    NoTls {
        /// The address that was given, without its credentials.
        url: String,
    },
    /// The server refuses a queue.
    #[error("the NATS server does not make a queue: {0}")]
    Queue(String),
    /// The connection of a worker has ended for good.
    #[error("{0}")]
    Closed(String),
    /// The set has no function of that name.
    #[error("there is no function {function:?} in {has}")]
    NoFunction {
        /// The name that was given.
        function: String,
        /// The set.
        has: String,
    },
    /// The function has other types.
    #[error("the function is {has}, and this program asks for {asked}")]
    OtherTypes {
        /// The signature in the set.
        has: String,
        /// The signature that was asked for.
        asked: String,
    },
    /// A journal of something else, or a file that is none.
    #[error("{}: {message}", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// The fault.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        error: io::Error,
    },
    /// No thread can be started.
    #[error("no thread can be started: {0}")]
    Thread(#[source] io::Error),
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
