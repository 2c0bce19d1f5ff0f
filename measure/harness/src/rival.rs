//! Rivals: programs that run what is measured beside others, each in a process of its own.
//!
//! A rival first says what it can run, in lines `NAME VERSION`. A line that begins with the word `ready` ends them; more words
//! may follow there. Then it answers each line that it reads. A request is a name and the words that this name needs. The answer
//! is `SECONDS DIGEST`: how long the run took and a number that depends on its results. More numbers may follow. An answer
//! `failed: REASON` says why there is none. Rivals in Rust answer with [`serve`], and those in C++ with `rival.hpp`.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::builds;
use crate::work::Digest;

/// A run that takes longer than this has failed.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// A pause that is long enough for the threads of the previous run to go to sleep.
pub const SETTLE: Duration = Duration::from_millis(2);

/// The answer of a rival.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How long the run took, in seconds.
    pub seconds: f64,
    /// A number that depends on the results.
    pub digest: u64,
    /// The numbers that this request has besides.
    pub more: Vec<f64>,
}

impl Answer {
    /// Runs `run`, which returns its digest, and measures its time.
    pub fn timed(run: impl FnOnce() -> u64) -> Self {
        let begin = Instant::now();
        let digest = run();
        Self { seconds: begin.elapsed().as_secs_f64(), digest, more: Vec::new() }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.seconds, self.digest)?;
        self.more.iter().try_for_each(|number| write!(f, " {number}"))
    }
}

impl FromStr for Answer {
    type Err = String;

    /// Reads an answer that was displayed. An answer that says why there is none is an error.
    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split(' ');
        let mut head = || Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?));
        let answer = head().and_then(|(seconds, digest)| {
            let more = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
            Some(Self { seconds, digest, more })
        });
        answer.ok_or_else(|| format!("it answered \"{line}\""))
    }
}

/// A process that is asked line by line. It is killed when this is dropped: it has no state that could be lost.
#[derive(Debug)]
pub struct Rival {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    /// Whether an answer did not come, so that a later one could be that of an earlier request.
    is_lost: bool,
    /// What it can run, with versions.
    pub versions: BTreeMap<String, String>,
    /// What it said behind the word `ready`.
    pub said: String,
}

impl Rival {
    /// Starts a program, and waits until it is ready.
    ///
    /// # Errors
    /// Why it cannot be started, with its name, or what it said in place of its first lines.
    pub fn start(mut command: Command) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
        let requests = child.stdin.take().expect("it is piped");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let (sender, answers) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let (versions, said) = (BTreeMap::new(), String::new());
        let mut rival = Self { child, requests, answers, is_lost: false, versions, said };
        loop {
            let line = rival.hear(PATIENCE)?;
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("ready", said) => {
                    rival.said = said.to_owned();
                    return Ok(rival);
                }
                (_, "") => return Err(format!("it said \"{line}\" and not what it can run")),
                (name, version) => drop(rival.versions.insert(name.into(), version.into())),
            }
        }
    }

    /// Builds and starts the program of a package of a workspace of rivals. It has the name of the package.
    ///
    /// # Errors
    /// Why it cannot be built or started.
    pub fn of_package(workspace: &Path, package: &str) -> Result<Self, String> {
        Self::start(Command::new(builds::rival(workspace, package)?.join(package)))
    }

    /// Sends a request, and returns the answer.
    ///
    /// # Errors
    /// If the process has ended, has left a request unanswered before, does not answer in time, or has no result.
    pub fn ask(&mut self, request: &str, patience: Duration) -> Result<Answer, String> {
        self.ask_line(request, patience)?.parse()
    }

    /// Sends a request whose answer is a line of another form, and returns that line.
    ///
    /// # Errors
    /// If the process has ended, has left a request unanswered before, or does not answer in time.
    pub fn ask_line(&mut self, request: &str, patience: Duration) -> Result<String, String> {
        if self.is_lost {
            return Err("the process did not answer before".into());
        }
        writeln!(self.requests, "{request}").map_err(|error| format!("its process has ended: {error}"))?;
        self.hear(patience)
    }

    /// As [`ask`](Self::ask), with pauses in which the threads of others and those of the rival go to sleep.
    ///
    /// # Errors
    /// Those of `ask`, with the request.
    pub fn ask_settled(&mut self, request: &str) -> Result<Answer, String> {
        thread::sleep(SETTLE);
        let answer = self.ask(request, PATIENCE).map_err(|why| format!("{request}: {why}"));
        thread::sleep(SETTLE);
        answer
    }

    /// Asks for a sample of a contender. A rival that does not answer counts as a wrong digest.
    pub fn sample(&mut self, request: &str) -> (f64, Digest) {
        self.ask_settled(request)
            .map_or((f64::NAN, Digest::EMPTY), |answer| (answer.seconds, Digest::of_number(answer.digest)))
    }

    fn hear(&mut self, patience: Duration) -> Result<String, String> {
        self.answers.recv_timeout(patience).map_err(|error| {
            self.is_lost = true;
            match error {
                RecvTimeoutError::Timeout => {
                    format!("it had not answered after {:.1} s, and was stopped", patience.as_secs_f64())
                }
                RecvTimeoutError::Disconnected => "its process has ended without an answer".into(),
            }
        })
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answers the requests on standard input. `forms` has names and versions, and `said` follows the word `ready`. `answer` gets the
/// words of a request.
///
/// # Errors
/// If the other side is gone.
pub fn serve(
    forms: &[(&str, String)],
    said: &str,
    mut answer: impl FnMut(&[&str]) -> Result<Answer, String>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (name, version) in forms {
        writeln!(out, "{name} {version}")?;
    }
    writeln!(out, "{}", format!("ready {said}").trim_end())?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        match answer(&line?.split_whitespace().collect::<Vec<_>>()) {
            Ok(answer) => writeln!(out, "{answer}")?,
            Err(why) => writeln!(out, "failed: {why}")?,
        }
        out.flush()?;
    }
    Ok(())
}

/// The number at a place of a request.
///
/// # Errors
/// If there is none.
pub fn number<T: FromStr>(words: &[&str], at: usize) -> Result<T, String> {
    let word = words.get(at).and_then(|word| word.parse().ok());
    word.ok_or_else(|| format!("word {at} of \"{}\" is no number", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let answer = Answer { seconds: 0.1, digest: u64::MAX, more: vec![1e-9, 4096.0] };
        assert_eq!(answer.to_string().parse(), Ok(answer));
        for wrong in ["", "7", "x 7", "0.5 -1", "0.5 1 x", "failed: no"] {
            assert_eq!(wrong.parse::<Answer>(), Err(format!("it answered \"{wrong}\"")));
        }
        assert_eq!(number::<u8>(&["a", "7"], 1), Ok(7));
        assert!(number::<u8>(&["a", "256"], 1).is_err() && number::<u8>(&["a"], 1).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_process_tells_its_forms_and_answers() {
        let script = "echo 'one 1.5'; echo 'two 2 and more'; echo ready 8 data; read line; echo \"5.5 $(echo $line | wc -w)\"; \
                      read line; echo \"failed: no $line\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut rival = Rival::start(command).unwrap();
        let versions: Vec<_> = rival.versions.iter().map(|(name, version)| (&**name, &**version)).collect();
        assert_eq!(versions, [("one", "1.5"), ("two", "2 and more")]);
        assert_eq!(rival.said, "8 data");
        let answer = rival.ask("one 3 100", PATIENCE).unwrap();
        assert_eq!((answer.seconds, answer.digest), (5.5, 3));
        let why = rival.ask_settled("two 3").unwrap_err();
        assert_eq!(why, "two 3: it answered \"failed: no two 3\"");
        // The process has ended.
        assert!(rival.ask("one", PATIENCE).is_err() && rival.sample("one").0.is_nan());
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let told = Rival::start(Command::new("./no-such-rivals")).unwrap_err();
        assert!(told.contains("no-such-rivals"), "{told}");
    }
}
