//! Settings of connections.

use std::fmt;
#[cfg(feature = "tls")]
use std::path::PathBuf;
use std::time::Duration;

use async_nats::ConnectOptions;

use crate::address::{Address, Secret};
use crate::error::Error;
use crate::events::{Event, Events};
use crate::wire;

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
    /// How long a server is waited for that is not there yet. Workers and programs have defaults of their own.
    pub(crate) wait: Option<Duration>,
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

impl Default for ClusterOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ClusterOptions {
    /// The settings that [`Cluster::connect`](crate::Cluster::connect) and [`Worker::connect`](crate::Worker::connect) have.
    pub fn new() -> Self {
        Self {
            name: wire::short(&format!("{}:{}", host(), std::process::id()), 64),
            lease: Duration::from_secs(2),
            attempts: 3,
            body_limit: 64 << 20,
            patience: Duration::from_secs(5),
            wait: None,
            events: Events::aloud(),
            credentials: Credentials::default(),
            #[cfg(feature = "tls")]
            tls: Tls::default(),
        }
    }

    /// Sets the name that reports and events have for this side. The default is the name of the machine and the number of the
    /// process. A name of more than 64 bytes is cut.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = wire::short(&name.into(), 64);
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

    /// Sets how long something is waited for before this is told, and told again: [`Event::NoWorker`], [`Event::NoServer`] and
    /// [`Event::ServerRefuses`]. If all that there is are workers with
    /// another version or other functions, the items fail after this time with
    /// [`RemoteError::Refused`](crate::RemoteError::Refused). The default is 5 s.
    pub fn patience(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// Sets a function that is told of events, in place of the lines on standard error. It is called by the thread of the connection, so
    /// it must not wait.
    ///
    /// Without it, a program or a worker that has waited for its [`patience`](Self::patience) writes one line, and one when it goes on.
    pub fn on_event(mut self, f: impl FnMut(&Event) + Send + 'static) -> Self {
        self.events = Events::to(f);
        self
    }

    /// Writes nothing to standard error, and tells nobody of events.
    pub fn quiet(mut self) -> Self {
        self.events = Events::nobody();
        self
    }

    /// Sets how long a connection waits for a server that does not answer yet. The default is 1 minute for a worker, and no time for a
    /// program. A server that refuses the connection is not waited for.
    pub fn wait_for_server(mut self, time: Duration) -> Self {
        self.wait = Some(time);
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
