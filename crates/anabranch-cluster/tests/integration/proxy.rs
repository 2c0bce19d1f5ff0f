//! A line to a server that is slow, stands still, breaks or is refused, at any message.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The fate of a line.
#[derive(Debug, Clone, Copy)]
pub enum Trouble {
    /// All its connections end, in the middle of a message.
    Cut,
    /// All its connections end again and again, so many times, after so many more messages each time.
    Cuts(u32, u64),
    /// Nothing passes for the time.
    Pause(Duration),
    /// All its connections end, and new ones are refused for the time.
    Refuse(Duration),
    /// At most so many bytes a second pass for the time.
    Slow(u64, Duration),
}

/// How a line is at the moment.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// The bytes a second in each direction.
    rate: f64,
    /// How long a byte takes.
    delay: Duration,
}

struct State {
    shape: Mutex<Shape>,
    /// The slow time ends then.
    slow: Mutex<Option<(f64, Instant)>>,
    still: Mutex<Option<Instant>>,
    refused: Mutex<Option<Instant>>,
    /// Both directions are free again at these moments.
    free: [Mutex<Instant>; 2],
    bytes: [AtomicU64; 2],
    messages: AtomicU64,
    /// Troubles that begin with the message of this number.
    troubles: Mutex<Vec<(u64, Trouble)>>,
    connections: Mutex<HashMap<u64, [TcpStream; 2]>>,
    ends: AtomicBool,
}

/// A proxy between clients and a server. It ends with this value.
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

/// The bytes that a slow line keeps for itself, as a time.
const BUFFER: Duration = Duration::from_millis(20);

/// A line as quick as this machine.
const QUICK: f64 = 1e12;

impl Proxy {
    /// A line to a server at an address and a port of this machine.
    pub fn new(address: &str, port: u16) -> Self {
        Self::slow(address, port, QUICK as u64, Duration::ZERO)
    }

    /// A line that carries so many bytes a second in each direction, each of which takes the time.
    pub fn slow(address: &str, port: u16, rate: u64, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = (address.to_owned(), port);
        let port = listener.local_addr().unwrap().port();
        let now = Instant::now();
        let state = Arc::new(State {
            shape: Mutex::new(Shape { rate: rate as f64, delay }),
            slow: Mutex::default(),
            still: Mutex::default(),
            refused: Mutex::default(),
            free: [Mutex::new(now), Mutex::new(now)],
            bytes: Default::default(),
            messages: AtomicU64::new(0),
            troubles: Mutex::default(),
            connections: Mutex::default(),
            ends: AtomicBool::new(false),
        });
        let accepts = Arc::clone(&state);
        thread::spawn(move || {
            for (number, client) in (0..).zip(listener.incoming()) {
                if accepts.ends.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(client) = client else { continue };
                accepts.accept(number, client, (&server.0, server.1));
            }
        });
        Self { port, state }
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// How many bytes have passed to the server, and from it.
    pub fn bytes(&self) -> [u64; 2] {
        [0, 1].map(|way| self.state.bytes[way].load(Ordering::SeqCst))
    }

    /// A trouble begins when so many more messages have passed.
    pub fn trouble(&self, after: u64, trouble: Trouble) {
        let at = self.state.messages.load(Ordering::SeqCst) + after;
        self.state.troubles.lock().unwrap().push((at, trouble));
    }

    /// No troubles any more.
    pub fn heal(&self) {
        self.state.troubles.lock().unwrap().clear();
        *self.state.still.lock().unwrap() = None;
        *self.state.refused.lock().unwrap() = None;
        *self.state.slow.lock().unwrap() = None;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.ends.store(true, Ordering::SeqCst);
        // The listener is woken.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        self.state.cut();
    }
}

impl State {
    fn accept(self: &Arc<Self>, number: u64, client: TcpStream, server: (&str, u16)) {
        if self.refused.lock().unwrap().is_some_and(|until| Instant::now() < until) {
            return;
        }
        let Ok(server) = TcpStream::connect(server) else { return };
        for stream in [&client, &server] {
            stream.set_nodelay(true).unwrap();
        }
        let clones = [client.try_clone().unwrap(), server.try_clone().unwrap()];
        self.connections.lock().unwrap().insert(number, clones);
        for (way, from, to) in [(0, &client, &server), (1, &server, &client)] {
            let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            // It has room for what a delay keeps under way, in pieces of at most 64 KiB.
            let (send, due) = mpsc::sync_channel(4096);
            let (reads, writes) = (Arc::clone(self), Arc::clone(self));
            thread::spawn(move || {
                reads.read(way, from, &send);
            });
            thread::spawn(move || {
                writes.write(to, &due);
                writes.connections.lock().unwrap().remove(&number);
            });
        }
    }

    fn read(&self, way: usize, mut from: TcpStream, send: &SyncSender<(Instant, Vec<u8>)>) {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let rate = self.rate();
            // A slow line takes small pieces, so that its connections share it.
            let most = ((rate * BUFFER.as_secs_f64() / 4.0) as usize).clamp(1 << 10, buffer.len());
            let length = match from.read(&mut buffer[..most]) {
                Ok(length) if length > 0 => length,
                _ => return,
            };
            let message = self.messages.fetch_add(1, Ordering::SeqCst);
            let troubles: Vec<Trouble> = {
                let mut troubles = self.troubles.lock().unwrap();
                troubles.extract_if(.., |(at, _)| *at <= message).map(|(_, trouble)| trouble).collect()
            };
            for trouble in troubles {
                let now = Instant::now();
                match trouble {
                    Trouble::Cut => {
                        let _ = send.send((now, buffer[..length / 2].to_vec()));
                        self.cut();
                    }
                    Trouble::Cuts(left, every) => {
                        if left > 1 {
                            let next = (message + every, Trouble::Cuts(left - 1, every));
                            self.troubles.lock().unwrap().push(next);
                        }
                        let _ = send.send((now, buffer[..length / 2].to_vec()));
                        self.cut();
                    }
                    Trouble::Pause(time) => *self.still.lock().unwrap() = Some(now + time),
                    Trouble::Refuse(time) => {
                        *self.refused.lock().unwrap() = Some(now + time);
                        self.cut();
                    }
                    Trouble::Slow(rate, time) => {
                        *self.slow.lock().unwrap() = Some((rate as f64, now + time));
                    }
                }
            }
            self.bytes[way].fetch_add(length as u64, Ordering::SeqCst);
            let due = {
                let mut free = self.free[way].lock().unwrap();
                *free = (*free).max(Instant::now()) + Duration::from_secs_f64(length as f64 / rate);
                *free
            };
            let delay = self.shape.lock().unwrap().delay;
            if send.send((due + delay, buffer[..length].to_vec())).is_err() {
                return;
            }
            thread::sleep(due.saturating_duration_since(Instant::now() + BUFFER));
        }
    }

    fn write(&self, mut to: TcpStream, due: &Receiver<(Instant, Vec<u8>)>) {
        while let Ok((at, bytes)) = due.recv() {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            while self.still.lock().unwrap().is_some_and(|until| Instant::now() < until) {
                thread::sleep(Duration::from_millis(1));
            }
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    }

    fn rate(&self) -> f64 {
        let slow = self.slow.lock().unwrap().filter(|(_, until)| Instant::now() < *until);
        slow.map_or(self.shape.lock().unwrap().rate, |(rate, _)| rate)
    }

    fn cut(&self) {
        for (_, streams) in self.connections.lock().unwrap().drain() {
            for stream in streams {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}
