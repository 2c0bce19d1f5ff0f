//! The events of a connection.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Something that a program or a worker may want to know, although nothing has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A worker begins to serve.
    Started {
        /// The name of the worker.
        name: String,
        /// The address of its server, without the credentials.
        address: String,
        /// The name, the version and the signatures of its functions.
        functions: String,
        /// How many items it computes at once.
        threads: usize,
    },
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
    /// [`patience`](crate::ClusterOptions::patience).
    ServerRefuses {
        /// The refused action, and the message of the server.
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
            Self::Started { name, address, functions, threads } => {
                let threads =
                    if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
                write!(f, "worker {name} serves {functions} at {address} by {threads}")
            }
            Self::NoWorker { function, waited } => {
                write!(f, "{function}: items have waited for a worker for {:.1} s", waited.as_secs_f64())
            }
            Self::Joined { name } => write!(f, "{name} is there"),
            Self::Left { name } => write!(f, "{name} has left"),
            Self::Refused(text) => f.write_str(text),
            Self::ServerRefuses { cause, waited } => write!(f, "{cause} (for {:.1} s)", waited.as_secs_f64()),
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

/// The listeners to events.
#[derive(Clone)]
pub(crate) struct Events(Option<Arc<Mutex<Listener>>>);

impl Events {
    pub(crate) fn to(f: impl FnMut(&Event) + Send + 'static) -> Self {
        Self(Some(Arc::new(Mutex::new(f))))
    }

    /// Writes to standard error what keeps a program or a worker waiting for long, and when it goes on.
    pub(crate) fn aloud() -> Self {
        let mut waits = Waits::default();
        Self::to(move |event| {
            if let Some(line) = waits.line(event) {
                eprintln!("anabranch-cluster: {line}");
            }
        })
    }

    pub(crate) fn nobody() -> Self {
        Self(None)
    }

    pub(crate) fn tell(&self, event: &Event) {
        if let Some(listener) = &self.0 {
            listener.lock().unwrap_or_else(PoisonError::into_inner)(event);
        }
    }
}

/// The lines that were written about waiting.
#[derive(Debug, Default)]
struct Waits {
    worker: bool,
    server: bool,
    room: bool,
    /// The refusals that were written, each once.
    refused: HashSet<String>,
}

impl Waits {
    /// The line for an event. Each wait has one line, and one when it ends.
    fn line(&mut self, event: &Event) -> Option<String> {
        let is_first = |waits: &mut bool| !std::mem::replace(waits, true);
        let has_ended = |waits: &mut bool| std::mem::take(waits);
        let is_written = match event {
            Event::Started { .. } => true,
            Event::NoWorker { .. } => is_first(&mut self.worker),
            Event::Joined { .. } => has_ended(&mut self.worker),
            Event::NoServer { .. } => is_first(&mut self.server),
            Event::Connected => has_ended(&mut self.server),
            // It may be over soon, unless it is a matter of rights.
            Event::ServerRefuses { waited, cause } if waited.is_zero() => {
                cause.contains("Permissions Violation") && self.refused.insert(cause.clone())
            }
            Event::ServerRefuses { .. } => is_first(&mut self.room),
            Event::ServerAccepts => has_ended(&mut self.room),
            Event::Refused(text) => self.refused.insert(text.clone()),
            Event::Left { .. } | Event::Disconnected => false,
        };
        is_written.then(|| event.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_has_one_line_and_one_when_it_ends() {
        let mut waits = Waits::default();
        let seconds = Duration::from_secs;
        let lonely = Event::NoWorker { function: "f".to_owned(), waited: seconds(5) };
        let joined = Event::Joined { name: "w".to_owned() };
        let full = |waited| Event::ServerRefuses { cause: "full".to_owned(), waited };
        let away = Event::NoServer { address: "a".to_owned(), waited: seconds(5) };
        let mut lines = |events: &[&Event]| -> Vec<bool> {
            events.iter().map(|event| waits.line(event).is_some()).collect()
        };
        assert_eq!(lines(&[&joined, &lonely, &lonely, &joined, &joined]), [false, true, false, true, false]);
        assert_eq!(lines(&[&Event::Disconnected, &Event::Connected]), [false, false]);
        assert_eq!(lines(&[&away, &away, &Event::Connected, &away]), [true, false, true, true]);
        let (begun, lasts) = (full(seconds(0)), full(seconds(5)));
        assert_eq!(lines(&[&begun, &Event::ServerAccepts]), [false, false]);
        assert_eq!(lines(&[&begun, &lasts, &lasts, &Event::ServerAccepts]), [false, true, false, true]);
    }
}
