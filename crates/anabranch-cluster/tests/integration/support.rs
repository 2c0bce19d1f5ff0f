//! A server of a test's own, the functions of the tests, and processes that serve and call them.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anabranch_cluster::{Cluster, ClusterOptions, Function, Functions, Worker};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

/// The function of a process of the tests is chosen by this environment variable, and its address by the next one.
const ROLE: &str = "ANABRANCH_TEST_ROLE";
const URL: &str = "ANABRANCH_TEST_URL";
const THREADS: &str = "ANABRANCH_TEST_THREADS";
const LIMIT: &str = "ANABRANCH_TEST_LIMIT";

/// The request of an item to its worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    Compute,
    Fail,
    Panic,
    /// Panics with a message of so many letters.
    PanicLong(u32),
    /// Ends the process.
    Abort,
    /// Ends the process, if the file is not there yet. Makes it. Otherwise fails if another job is computed at the same time.
    AbortOnce(String),
    /// Appends a line with the number of the process, then waits until the other file is there.
    Await {
        begun: String,
        until: String,
    },
}

/// An item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub number: u64,
    pub body: Bytes,
    /// The length of the result, in bytes.
    pub result: u32,
    /// The time that it is computed, in microseconds.
    pub time: u32,
    pub act: Act,
}

/// The failure of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault(pub u64);

impl Job {
    pub fn new(number: u64) -> Self {
        Self { number, body: Bytes::new(), result: 8, time: 0, act: Act::Compute }
    }

    pub fn act(self, act: Act) -> Self {
        Self { act, ..self }
    }

    /// Sets the length of the item and of its result.
    pub fn sized(self, length: usize, result: usize) -> Self {
        // Unlike its neighbours, at any multiple of a power of two.
        let pattern: Vec<u8> = (0..251u8).map(|n| n.wrapping_mul(7) ^ self.number as u8).collect();
        let mut body = pattern.repeat(length / pattern.len() + 1);
        body.truncate(length);
        let body = body.into();
        Self { body, result: result as u32, ..self }
    }

    pub fn time(self, time: Duration) -> Self {
        Self { time: time.as_micros() as u32, ..self }
    }
}

/// How many jobs this process computes at the moment.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// The result of a job, wherever it runs.
pub fn work(job: Job) -> Result<Bytes, Fault> {
    RUNNING.fetch_add(1, Ordering::SeqCst);
    let result = catch_unwind(AssertUnwindSafe(|| compute(job)));
    RUNNING.fetch_sub(1, Ordering::SeqCst);
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

fn compute(job: Job) -> Result<Bytes, Fault> {
    let Job { number, body, result, time, act } = job;
    if time > 0 {
        thread::sleep(Duration::from_micros(time.into()));
    }
    match act {
        Act::Compute => {}
        Act::Fail => return Err(Fault(number)),
        Act::Panic => panic!("job {number} panics"),
        Act::PanicLong(length) => panic!("{}", "x".repeat(length as usize)),
        Act::Abort => std::process::abort(),
        Act::AbortOnce(file) => {
            if std::fs::File::create_new(file).is_ok() {
                std::process::abort();
            }
            if RUNNING.load(Ordering::SeqCst) > 1 {
                return Err(Fault(number));
            }
        }
        Act::Await { begun, until } => {
            use std::io::Write;
            let mut file = std::fs::File::options().create(true).append(true).open(begun).unwrap();
            // In one call, since other processes write to it, too.
            file.write_all(format!("{number} {}\n", std::process::id()).as_bytes()).unwrap();
            while !Path::new(&until).exists() {
                thread::sleep(Duration::from_millis(2));
            }
        }
    }
    let words = body.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    let sum = words.fold(number + body.len() as u64, |sum, word| sum.rotate_left(5).wrapping_add(word));
    let mut bytes = sum.to_le_bytes().repeat(result as usize / 8 + 1);
    bytes.truncate(result as usize);
    Ok(bytes.into())
}

pub fn functions() -> Functions {
    Functions::new("tests", "1.0").function("work", work)
}

pub fn function(cluster: &Cluster) -> Function<Job, Bytes, Fault> {
    cluster.function(&functions(), "work").unwrap()
}

/// Settings with a short lease.
pub fn options() -> ClusterOptions {
    ClusterOptions::new().lease(Duration::from_millis(1_000))
}

/// Whether there is a server to be started. If not, the test leaves out what needs it.
pub fn have_server() -> bool {
    abz_foreign::have("nats-server")
}

/// A server on a free port of this machine. It ends with this value.
pub struct Server {
    address: String,
    arguments: Vec<String>,
    folder: TempDir,
    port: u16,
    process: Option<Process>,
}

impl Server {
    pub fn start() -> Self {
        Self::with(&["-js"])
    }

    pub fn with(arguments: &[&str]) -> Self {
        Self::at("127.0.0.1", arguments)
    }

    /// At an address of this machine.
    pub fn at(address: &str, arguments: &[&str]) -> Self {
        let port = TcpListener::bind((address, 0)).unwrap().local_addr().unwrap().port();
        let address = address.to_owned();
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let mut server =
            Self { address, arguments, folder: tempfile::tempdir().unwrap(), port, process: None };
        server.restart();
        server
    }

    /// Ends it at once, and starts it again at the same address.
    pub fn restart(&mut self) {
        self.restart_after(Duration::ZERO);
    }

    /// The same, with a time between them.
    pub fn restart_after(&mut self, time: Duration) {
        self.end();
        thread::sleep(time);
        self.begin();
    }

    /// Ends it at once.
    pub fn end(&mut self) {
        self.process = None;
    }

    /// Starts it at its address.
    pub fn begin(&mut self) {
        let mut command = abz_foreign::command("nats-server");
        command.args(["-a", &self.address, "-p", &self.port.to_string(), "-sd"]).arg(self.folder.path());
        command.args(&self.arguments).stdout(Stdio::null()).stderr(Stdio::null());
        let process = self.process.insert(Process(command.spawn().unwrap()));
        let begun = Instant::now();
        while !answers(&self.address, self.port) {
            assert!(begun.elapsed() < Duration::from_secs(20), "the server does not start");
            if process.has_ended() {
                // A connection of another process had its port for a moment.
                *process = Process(command.spawn().unwrap());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn id(&self) -> u32 {
        self.process.as_ref().expect("it runs").id()
    }

    pub fn url(&self) -> String {
        format!("nats://{}:{}", self.address, self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Sends it a signal, by the name of the signal.
    pub fn signal(&self, name: &str) {
        self.process.as_ref().expect("it runs").signal(name);
    }

    pub fn cluster(&self) -> Cluster {
        Cluster::connect_with(&self.url(), options()).unwrap()
    }

    /// A worker in a process of its own.
    pub fn worker(&self, threads: usize) -> Process {
        worker(&self.url(), threads).start()
    }
}

fn answers(address: &str, port: u16) -> bool {
    let Ok(mut connection) = TcpStream::connect((address, port)) else { return false };
    let mut word = [0; 4];
    connection.read_exact(&mut word).is_ok() && word == *b"INFO"
}

/// The names of the queues on a server.
pub fn queues(url: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(url).await.unwrap();
        let reply = client.request("$JS.API.STREAM.NAMES", "".into()).await.unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&reply.payload).unwrap();
        answer["streams"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    })
}

/// A process that ends with this value.
pub struct Process(pub Child);

impl Process {
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Sends a signal, by its name.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.id().to_string()]).status();
        assert!(status.unwrap().success(), "kill -{name}");
    }

    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// Waits until it has ended. Returns whether it was successful.
    pub fn wait(&mut self) -> bool {
        self.0.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process of this program that takes a role.
pub struct Role(Command);

pub fn role(name: &str, url: &str) -> Role {
    let mut command = abz_foreign::command(std::env::current_exe().unwrap());
    command.args(["support::plays_a_role", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, name).env(URL, url).stdout(Stdio::null()).stderr(Stdio::null());
    Role(command)
}

/// A worker.
pub fn worker(url: &str, threads: usize) -> Role {
    role("worker", url).env(THREADS, threads.to_string())
}

impl Role {
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Lets another program start it.
    pub fn behind(self, words: &[&str]) -> Self {
        let Self(inner) = self;
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(inner.get_program()).args(inner.get_args());
        command.env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self(command)
    }

    pub fn start(mut self) -> Process {
        Process(self.0.spawn().unwrap())
    }

    /// Starts it, and waits for a line of its output that has `words`.
    pub fn start_until(self, words: &str) -> Process {
        let (process, lines) = self.start_and_listen();
        while !lines.recv_timeout(Duration::from_secs(30)).expect("the process says so").contains(words) {}
        process
    }

    /// Starts it. Returns the lines of its output, too.
    pub fn start_and_listen(mut self) -> (Process, mpsc::Receiver<String>) {
        self.0.stdout(Stdio::piped());
        let mut process = Process(self.0.spawn().unwrap());
        let lines = process.0.stdout.take().unwrap();
        (process, heard(lines))
    }

    /// Starts it. Returns the lines of its errors, too.
    pub fn start_and_listen_to_errors(mut self) -> (Process, mpsc::Receiver<String>) {
        self.0.stderr(Stdio::piped());
        let mut process = Process(self.0.spawn().unwrap());
        let lines = process.0.stderr.take().unwrap();
        (process, heard(lines))
    }
}

fn heard(output: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let lines = BufReader::new(output);
    let (said, hear) = mpsc::channel();
    thread::spawn(move || {
        for line in lines.lines().map_while(Result::ok) {
            // The output must be read to its end, also if nobody hears it.
            let _ = said.send(line);
        }
    });
    hear
}

#[test]
#[ignore = "a process of other tests"]
fn plays_a_role() {
    let (Ok(role), Ok(url)) = (std::env::var(ROLE), std::env::var(URL)) else { return };
    match role.as_str() {
        "worker" => {
            let threads = std::env::var(THREADS).unwrap().parse().unwrap();
            let limit = std::env::var(LIMIT).map_or(64 << 20, |limit| limit.parse().unwrap());
            let options = options().body_limit(limit).on_event(|event| println!("{event}"));
            let worker = Worker::connect_with(&url, options).unwrap();
            worker.threads(threads).serve(functions()).unwrap();
        }
        // These have the default listener, which writes to standard error.
        "aloud" => {
            let worker = Worker::connect_with(&url, options().patience(Duration::from_millis(300))).unwrap();
            worker.threads(1).serve(functions()).unwrap();
        }
        "lonely" => crate::told::lonely(&url),
        "other version" => {
            let worker = Worker::connect_with(&url, options().quiet()).unwrap();
            worker.serve(Functions::new("tests", "0.9").function("work", work)).unwrap();
        }
        "other set" => {
            let worker = Worker::connect_with(&url, options().quiet()).unwrap();
            worker.serve(Functions::new("others", "1.0").function("work", work)).unwrap();
        }
        "long run" => crate::faults::long_run(&Cluster::connect_with(&url, options()).unwrap()),
        "journaled" => crate::journal::journaled(&Cluster::connect_with(&url, options()).unwrap()),
        "render" => crate::rendered::play(),
        "slow end" => crate::bodies::slow_end(&Cluster::connect_with(&url, options()).unwrap()),
        _ => panic!("there is no role {role}"),
    }
}

/// Runs a test with a time limit.
pub fn within<R: Send + 'static>(time: Duration, test: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, wait) = mpsc::channel();
    let thread = thread::spawn(move || {
        let result = test();
        let _ = done.send(());
        result
    });
    match wait.recv_timeout(time) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the test hangs"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}
