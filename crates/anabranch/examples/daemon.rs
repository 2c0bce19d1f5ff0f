//! A daemon: it takes jobs and commands from its input until it is told to stop, and does the jobs on all cores.
//!
//!     cargo run --release -p anabranch --example daemon
//!
//! Each line is a command (`pause`, `resume`, `state`, `stop`) or a job, whose text is counted.

use std::io::{self, BufRead, Write};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anabranch::{CancelToken, Monitor, Stopped, Stream, TrySendError};

/// At most this many jobs wait before the stream, and as many are worked on at a time.
const JOBS: usize = 32;

/// The time that the daemon has after `stop`, or after the end of its input.
const DEADLINE: Duration = Duration::from_secs(10);

fn work(job: &str) -> String {
    format!("{job}: {} letters", job.chars().filter(|letter| letter.is_alphabetic()).count())
}

/// Runs the daemon on the lines of `commands`. Results go to `out`, in the order of the jobs.
///
/// # Errors
/// If `commands` cannot be read or `out` cannot be written.
pub fn run(commands: impl BufRead, out: impl Write + Send) -> io::Result<Stopped> {
    let (sender, jobs) = Stream::channel(JOBS);
    let (token, monitor) = (CancelToken::new(), Monitor::new());
    let out = Mutex::new(out);
    let jobs = jobs.window(JOBS).cancel_by(&token).watch(&monitor).map(|job: String| work(&job));
    let say = |text: &str| writeln!(out.lock().unwrap(), "{text}");
    thread::scope(|scope| {
        let stream = scope.spawn(move || jobs.try_for_each(|result| say(&result)));
        let read = || -> io::Result<()> {
            for line in commands.lines() {
                match line?.trim() {
                    "pause" => token.pause(),
                    "resume" => token.resume(),
                    "state" => {
                        for snapshot in monitor.snapshots() {
                            say(&snapshot.to_string())?;
                        }
                    }
                    "stop" => break,
                    "" => {}
                    // A paused stream gives no room, and this thread must read the command that lets it go on.
                    job if token.is_paused() => match sender.try_send(job.to_owned()) {
                        Ok(()) => {}
                        Err(TrySendError::Full(job)) => say(&format!("{job}: refused, {JOBS} jobs wait"))?,
                        Err(TrySendError::Closed(_)) => break,
                    },
                    // The stream takes no more jobs if it has failed. Its error comes back below.
                    job => {
                        if sender.send(job.to_owned()).is_err() {
                            break;
                        }
                    }
                }
            }
            Ok(())
        };
        let read = read();
        // Whatever happened: the jobs that were accepted are done, but not for longer than the deadline.
        token.drain();
        if token.wait(DEADLINE).is_none() {
            token.cancel();
        }
        stream.join().expect("the stages do not panic")?;
        read?;
        Ok(token.stopped().expect("the run was stopped"))
    })
}

fn main() -> io::Result<()> {
    let stopped = run(io::stdin().lock(), io::stdout())?;
    println!("{} jobs done, {} given up", stopped.delivered, stopped.dropped);
    Ok(())
}
