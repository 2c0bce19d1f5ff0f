//! Settings of connections, and what a connection tells.

use std::fmt;
#[cfg(feature = "tls")]
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::ConnectOptions;

use crate::address::{Address, Secret};
use crate::error::Error;

/// Settings of a [`Cluster`](crate::Cluster) or a [`Worker`](crate::Worker).
///
/// ```no_run
/// use anabranch_cluster::{Cluster, ClusterOptions};
/// use std::time::Duration;
///
/// let options = ClusterOptions::new()
///     .user_and_password("thumbnails", "secret")
///     .lease(Duration::from_secs(5))
///     .on_event(|event| eprintln!("{event}"));
/// let cluster = Cluster::connect_with("nats://build:4222", options)?;
/// # Ok::<(), anabranch_cluster::Error>(())
/// ```
#[derive(Clone)]
pub struct ClusterOptions {
    pub(crate) name: String,
    pub(crate) lease: Duration,
    pub(crate) attempts: u32,
    pub(crate) body_limit: u64,
    pub(crate) patience: Duration,
    pub(crate) events: Events,
    credentials: Credentials,
    #[cfg(feature = "tls")]
    tls: Tls,
}

#[derive(Clone, Default)]
enum Credentials {
    #[default]
    InTheAddress,
    UserAndPassword(String, String),
    Token(String),
    #[cfg(feature = "tls")]
    File(PathBuf),
    #[cfg(feature = "tls")]
    Nkey(String),
}

#[cfg(feature = "tls")]
#[derive(Clone, Default)]
struct Tls {
    is_required: bool,
    roots: Option<PathBuf>,
    certificate: Option<(PathBuf, PathBuf)>,
}

/// Something that a program or a worker may want to know, although nothing has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Items wait, and no worker is there.
    NoWorker {
        /// The function that is called.
        function: String,
        /// They wait for so long.
        waited: Duration,
    },
    /// A worker serves a program from now on.
    Joined {
        /// The name of the worker, or in a worker that of the function.
        name: String,
    },
    /// A worker serves a program no longer: it said so, or was not heard of for a lease.
    Left {
        /// The name of the worker, or in a worker that of the function.
        name: String,
    },
    /// A worker and a program have not the same functions. The text names both sides.
    Refused(String),
    /// The server refuses something, so nothing goes on for the moment: it has no room for items or makes no queue, it does not
    /// accept the credentials any more, or it does not allow what is needed. This is told at once, and again after the
    /// [`patience`](ClusterOptions::patience).
    ServerRefuses {
        /// What is refused, and what the server says.
        cause: String,
        /// It has been refused for so long.
        waited: Duration,
    },
    /// The server takes what it has refused.
    ServerAccepts,
    /// The server has not been reached since the connection was lost.
    NoServer {
        /// Its address, without the credentials.
        address: String,
        /// It has not been reached for so long.
        waited: Duration,
    },
    /// The connection to the server is lost, and is tried again.
    Disconnected,
    /// The connection to the server is there again.
    Connected,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWorker { function, waited } => {
                write!(f, "{function}: no worker is there since {:.1} s", waited.as_secs_f64())
            }
            Self::Joined { name } => write!(f, "{name} is there"),
            Self::Left { name } => write!(f, "{name} has left"),
            Self::Refused(text) => f.write_str(text),
            Self::ServerRefuses { cause, waited } => write!(f, "{cause} ({:.1} s)", waited.as_secs_f64()),
            Self::ServerAccepts => f.write_str("the server takes everything again"),
            Self::NoServer { address, waited } => {
                write!(f, "the server at {address} has not been reached for {:.1} s", waited.as_secs_f64())
            }
            Self::Disconnected => f.write_str("the connection to the server is lost"),
            Self::Connected => f.write_str("the connection to the server is there again"),
        }
    }
}

type Listener = dyn FnMut(&Event) + Send;

/// Who is told of events.
#[derive(Clone, Default)]
pub(crate) struct Events(Option<Arc<Mutex<Listener>>>);

impl Events {
    pub(crate) fn tell(&self, event: &Event) {
        if let Some(listener) = &self.0 {
            listener.lock().unwrap_or_else(PoisonError::into_inner)(event);
        }
    }
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ClusterOptions {
    /// The settings that [`Cluster::connect`](crate::Cluster::connect) and [`Worker::connect`](crate::Worker::connect) have.
    pub fn new() -> Self {
        Self {
            name: format!("{}:{}", host(), std::process::id()),
            lease: Duration::from_secs(2),
            attempts: 3,
            body_limit: 64 << 20,
            patience: Duration::from_secs(5),
            events: Events::default(),
            credentials: Credentials::default(),
            #[cfg(feature = "tls")]
            tls: Tls::default(),
        }
    }

    /// Sets the name that reports and events have for this side. The default is the name of the machine and the number of the
    /// process.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets how long a worker may be silent before its items are given to others. A worker renews its lease all the time while it
    /// computes, so an item may take much longer. The default is 2 s. Only that of the program counts.
    ///
    /// # Panics
    /// If it is less than 100 ms.
    #[track_caller]
    pub fn lease(mut self, lease: Duration) -> Self {
        assert!(lease >= Duration::from_millis(100), "a lease is 100 ms or more, not {lease:?}");
        self.lease = lease;
        self
    }

    /// Sets how many workers may be lost with an item under way before the item is the failure. The default is 3. Only that of the
    /// program counts.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn attempts(mut self, attempts: u32) -> Self {
        assert!(attempts > 0, "an item needs 1 attempt or more, not 0");
        self.attempts = attempts;
        self
    }

    /// Sets the limit of an item or a result, in bytes of its code. It is checked before anything is received or decoded. The default
    /// is 64 MiB. Each side has its own limit.
    pub fn body_limit(mut self, bytes: u64) -> Self {
        self.body_limit = bytes;
        self
    }

    /// Sets how long items wait for a worker before [`Event::NoWorker`] is told, and told again. If all that there is are workers with
    /// another version or other functions, the items fail after this time with
    /// [`RemoteError::Refused`](crate::RemoteError::Refused). The default is 5 s.
    pub fn patience(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// Sets a function that is told of events. It is called by the thread of the connection, so it must not wait.
    pub fn on_event(mut self, f: impl FnMut(&Event) + Send + 'static) -> Self {
        self.events = Events(Some(Arc::new(Mutex::new(f))));
        self
    }

    /// Sets a user and a password.
    pub fn user_and_password(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.credentials = Credentials::UserAndPassword(user.into(), password.into());
        self
    }

    /// Sets a token.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.credentials = Credentials::Token(token.into());
        self
    }

    /// Sets a credentials file, as `nsc` writes it. It is read when the connection is made.
    #[cfg(feature = "tls")]
    pub fn credentials_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.credentials = Credentials::File(path.into());
        self
    }

    /// Sets the seed of an nkey.
    #[cfg(feature = "tls")]
    pub fn nkey(mut self, seed: impl Into<String>) -> Self {
        self.credentials = Credentials::Nkey(seed.into());
        self
    }

    /// Refuses a connection without TLS. An address that begins with `tls://` does this, too.
    #[cfg(feature = "tls")]
    pub fn require_tls(mut self) -> Self {
        self.tls.is_required = true;
        self
    }

    /// Trusts the certificates in a file, in the format PEM, besides those of the system.
    #[cfg(feature = "tls")]
    pub fn root_certificates(mut self, path: impl Into<PathBuf>) -> Self {
        self.tls.roots = Some(path.into());
        self
    }

    /// Shows the server a certificate. Both files have the format PEM.
    #[cfg(feature = "tls")]
    pub fn client_certificate(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.tls.certificate = Some((certificate.into(), key.into()));
        self
    }

    /// The options of a connection. Credentials that were set come before those in the address.
    pub(crate) async fn connection(&self, address: &Address) -> Result<ConnectOptions, Error> {
        let options = match self.credentials.clone() {
            Credentials::InTheAddress => match address.secret.clone() {
                None => ConnectOptions::new(),
                Some(Secret::UserAndPassword(user, password)) => {
                    ConnectOptions::with_user_and_password(user, password)
                }
                Some(Secret::Token(token)) => ConnectOptions::with_token(token),
            },
            Credentials::UserAndPassword(user, password) => {
                ConnectOptions::with_user_and_password(user, password)
            }
            Credentials::Token(token) => ConnectOptions::with_token(token),
            #[cfg(feature = "tls")]
            Credentials::File(path) => ConnectOptions::with_credentials_file(&path)
                .await
                .map_err(|error| Error::File { path, error })?,
            #[cfg(feature = "tls")]
            Credentials::Nkey(seed) => ConnectOptions::with_nkey(seed),
        };
        #[cfg(feature = "tls")]
        let options = self.secured(options);
        Ok(options)
    }

    #[cfg(feature = "tls")]
    fn secured(&self, mut options: ConnectOptions) -> ConnectOptions {
        let Tls { is_required, roots, certificate } = self.tls.clone();
        options = options.require_tls(is_required);
        if let Some(roots) = roots {
            options = options.add_root_certificates(roots);
        }
        if let Some((certificate, key)) = certificate {
            options = options.add_client_certificate(certificate, key);
        }
        options
    }
}

impl fmt::Debug for ClusterOptions {
    // Without the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterOptions")
            .field("name", &self.name)
            .field("lease", &self.lease)
            .field("attempts", &self.attempts)
            .field("body_limit", &self.body_limit)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    name.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_else(|| "machine".to_owned())
}
