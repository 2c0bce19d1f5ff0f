//! Processes that run variants.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anabranch_applications::{Answer, Scale};

use crate::choice::{Case, RIVALS};

/// A run that takes longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// The programs that have the variants.
#[derive(Debug)]
pub struct Programs {
    own: PathBuf,
    /// If the rivals could not be built, the reason.
    rivals: Result<PathBuf, String>,
}

/// The folder of builds in which this program lies.
pub fn builds() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().nth(2).map_or_else(|| "target".into(), Path::to_owned)
}

impl Programs {
    /// Builds the rivals if one of them is wanted.
    ///
    /// # Errors
    /// If the system does not tell where this program is.
    pub fn ready(variants: &[&str]) -> Result<Self, String> {
        let own = std::env::current_exe()
            .map_err(|error| format!("the system does not tell where this program is: {error}"))?;
        let wanted = variants.iter().any(|name| RIVALS.contains(name));
        Ok(Self { own, rivals: if wanted { build_rivals() } else { Err("not asked for".into()) } })
    }

    /// Starts a process for a variant, and waits until its data are there.
    ///
    /// # Errors
    /// Why it cannot run.
    pub fn start(&self, case: Case, scale: Scale, variant: &str) -> Result<Process, String> {
        let mut command = if RIVALS.contains(&variant) {
            Command::new(self.rivals.as_ref().map_err(Clone::clone)?)
        } else {
            let mut command = Command::new(&self.own);
            command.arg("serve");
            command
        };
        let workers = case.workers.to_string();
        command.args([case.about.name, case.workload, scale.name(), variant, &workers]);
        Process::start(command)
    }
}

/// Builds `rivals/`, which is a workspace of its own.
fn build_rivals() -> Result<PathBuf, String> {
    let folder = builds().join("suite-rivals");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals/Cargo.toml");
    eprintln!("building the rivals in {}", folder.display());
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--quiet", "--locked", "--manifest-path"]).arg(&manifest);
    build.arg("--target-dir").arg(&folder);
    let said = build.output().map_err(|error| format!("cargo did not start: {error}"))?;
    if said.status.success() {
        return Ok(folder.join("release/anabranch-suite-rivals"));
    }
    let words = String::from_utf8_lossy(&said.stderr);
    let reason = words.lines().find(|line| line.starts_with("error")).unwrap_or("no reason given");
    Err(format!(
        "not built ({reason}); `cargo build --release --manifest-path {}` shows all",
        manifest.display()
    ))
}

/// A process with one variant.
#[derive(Debug)]
pub struct Process {
    child: Child,
    ask: ChildStdin,
    answers: Receiver<String>,
    /// How much work a run does, in the application's unit.
    pub amount: f64,
}

impl Process {
    fn start(mut command: Command) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
        let ask = child.stdin.take().expect("it is piped");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let (sender, answers) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut process = Self { child, ask, answers, amount: 0.0 };
        let line = process.hear()?;
        let amount = line.strip_prefix("ready ").and_then(|amount| amount.parse().ok());
        process.amount = amount.ok_or_else(|| format!("it said `{line}` and not `ready`"))?;
        Ok(process)
    }

    /// Runs the variant once.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn run(&mut self) -> Result<Answer, String> {
        writeln!(self.ask, "run").map_err(|error| format!("its process has ended: {error}"))?;
        let line = self.hear()?;
        Answer::parse(&line).ok_or_else(|| format!("it answered `{line}`"))
    }

    fn hear(&mut self) -> Result<String, String> {
        self.answers.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("it has not answered for {} s", PATIENCE.as_secs()),
            RecvTimeoutError::Disconnected => "its process has ended without an answer".into(),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process has no state that could be lost.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
