//! The question whether a file shall be overwritten, to whoever sits at the terminal.

use std::fs;
use std::io::{self, BufRead, IsTerminal};
use std::sync::{Mutex, PoisonError};

use super::patient::{Patient, tell};
use super::progress::Progress;
use super::request::{Inputs, Source, Talk};
use super::target::Target;

/// One question at a time.
static ASKING: Mutex<()> = Mutex::new(());

/// True if there is somebody to ask, who wants to be.
pub(super) fn can_ask(talk: &Talk, inputs: &Inputs) -> bool {
    talk.asks
        && talk.manners.asks
        && talk.is_chatty()
        && !inputs.sources.contains(&Source::Stdin)
        && io::stdin().is_terminal()
        && io::stderr().is_terminal()
}

/// Whether what is at `target`, if that is a file, shall be overwritten.
pub(super) fn may_overwrite(target: &Target, talk: &Talk, progress: &Progress) -> bool {
    let Target::File(path) = target else { return false };
    if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let _alone = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    progress.aside(|| {
        let name = talk.manners.name;
        tell(&format!("{name}: {} already exists; overwrite it (y or n)? ", path.display()));
        let mut answer = String::new();
        let mut stdin = Patient(io::stdin().lock());
        stdin.read_line(&mut answer).is_ok() && answer.trim_start().starts_with(['y', 'Y'])
    })
}
