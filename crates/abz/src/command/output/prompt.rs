//! The prompt before a file is overwritten.

use std::fs;
use std::io::{self, BufRead, IsTerminal};
use std::sync::{Mutex, PoisonError};

use super::target::Target;
use crate::command::messages::progress::Progress;
use crate::command::request::{Inputs, Source, Talk};
use crate::command::system::patient::{Patient, tell};
use crate::command::system::quote::quoted;

/// Serializes prompts.
static ASKING: Mutex<()> = Mutex::new(());

/// Returns `true` if prompts are enabled, and standard input and error are terminals.
pub(crate) fn can_ask(talk: &Talk, inputs: &Inputs) -> bool {
    talk.asks
        && talk.behaviour.asks
        && talk.is_chatty()
        && !inputs.sources.contains(&Source::Stdin)
        && io::stdin().is_terminal()
        && io::stderr().is_terminal()
}

/// Asks whether to overwrite `target` if it is a regular file, and returns the answer. Returns `false` for anything
/// else.
pub(crate) fn may_overwrite(target: &Target, talk: &Talk, progress: &Progress) -> bool {
    let Target::File(path) = target else { return false };
    if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let _alone = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    progress.aside(|| {
        let name = talk.behaviour.name;
        tell(&format!("{name}: {} already exists; overwrite it (y or n)? ", quoted(path)));
        let mut answer = String::new();
        let mut stdin = Patient(io::stdin().lock());
        stdin.read_line(&mut answer).is_ok() && answer.trim_start().starts_with(['y', 'Y'])
    })
}
