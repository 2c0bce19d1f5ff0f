//! A server, workers and programs of a measurement, each a process of its own.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use measure_harness::rounds::Unmeasured;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process that is killed when this is dropped.
#[derive(Debug)]
pub struct Process(pub Child);

impl Process {
    /// The most memory that it has used so far, in bytes.
    pub fn most_memory(&self) -> Option<f64> {
        most_memory(&self.0.id().to_string())
    }

    /// The processor time that it has used, in seconds.
    pub fn processor_time(&self) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).ok()?;
        // The name of the program may have spaces, and ends with the last parenthesis.
        let (_, fields) = text.rsplit_once(')')?;
        let mut fields = fields.split_whitespace().skip(11);
        let mut ticks = || fields.next()?.parse::<f64>().ok();
        Some((ticks()? + ticks()?) / 100.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The most memory that a process has used so far, in bytes.
pub fn most_memory(process: &str) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0)
}

/// A server with a folder of its own.
#[derive(Debug)]
pub struct Server {
    pub process: Process,
    pub url: String,
    folder: PathBuf,
}

impl Server {
    /// Starts a server on a free port of this machine.
    ///
    /// # Errors
    /// If `nats-server` is not installed, or does not answer.
    pub fn start() -> Result<Self, Unmeasured> {
        let impossible = |error: std::io::Error| Unmeasured::Impossible(format!("nats-server: {error}"));
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).map_err(impossible)?.port();
        let folder = std::env::temp_dir().join(format!("anabranch-measure-{}-{port}", std::process::id()));
        let child = Command::new("nats-server")
            .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"])
            .arg(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| {
                Unmeasured::NotInstalled("nats-server: install Debian's package nats-server".into())
            })?;
        let server = Self { process: Process(child), url: format!("nats://127.0.0.1:{port}"), folder };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begin.elapsed() > PATIENCE {
                return Err(Unmeasured::Impossible("nats-server does not answer".into()));
            }
            sleep(Duration::from_millis(10));
        }
        Ok(server)
    }

    /// Starts this program in another role, with more words.
    pub fn role(&self, role: &str, words: &[&str]) -> Process {
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        command.args([role, &self.url]).args(words).stdout(Stdio::piped());
        Process(command.spawn().expect("this program can be started"))
    }

    /// Starts a worker with one thread. It takes `slowness` times as long for the items that only wait.
    pub fn worker(&self, slowness: u32) -> Process {
        self.role(super::WORKER, &[&slowness.to_string()])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.0.kill();
        let _ = self.process.0.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
