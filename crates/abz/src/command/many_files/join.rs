//! Several inputs with one output: the results are concatenated in order.

use abz::program::RunOptions;

use crate::command::action::{Action, Setting, Terms};
use crate::command::input::walk::Walk;
use crate::command::messages::Messages;
use crate::command::messages::console::Console;
use crate::command::messages::problem::Problem;
use crate::command::output::prompt;
use crate::command::output::target::Target;
use crate::command::output::{Attributes, Output, USUAL};
use crate::command::request::{Destination, Outputs};
use crate::command::system::file_id::FileId;

/// Returns the settings of the common output, if there is one and several inputs.
pub(crate) fn is_asked_for(action: &dyn Action) -> Option<&Outputs> {
    let Terms { inputs, outputs, joins, .. } = action.terms();
    let are_several = inputs.sources.len() > 1 || inputs.recursive;
    outputs.filter(|outputs| joins && are_several && matches!(outputs.destination, Destination::File(_)))
}

/// Processes all inputs to one output, which gets its name at the end. As in zstd, an input that cannot be opened is
/// skipped. If an open input fails, no output is created.
pub(crate) fn run(
    action: &dyn Action,
    outputs: &Outputs,
    setting: Setting<'_>,
    run_options: RunOptions<'_>,
    console: &mut Console,
) {
    let mut messages = Messages::default();
    let result = join((action, outputs), setting, run_options, console, &mut messages);
    messages.add(result);
    console.tell(&messages);
}

fn join(
    (action, outputs): (&dyn Action, &Outputs),
    setting: Setting<'_>,
    run_options: RunOptions<'_>,
    console: &mut Console,
    messages: &mut Messages,
) -> Result<(), Problem> {
    let Destination::File(path) = &outputs.destination else { return Ok(()) };
    let target = Target::File(path.clone());
    let overwrite =
        outputs.force || setting.asks && prompt::may_overwrite(&target, setting.talk, setting.progress);
    let existing = target.existing();
    let found = target.identity(&existing);
    let mut output = Output::open_over((target.clone(), existing), outputs, USUAL, overwrite)?.in_order();
    let name = output.to_string();
    let mut joined = 0;
    for input in Walk::new(action.terms().inputs) {
        let input = match input {
            Ok(input) => input,
            Err(problem) => {
                console.tell_problem(&problem);
                continue;
            }
        };
        if found == Some(FileId::of(&input.metadata)) {
            return Err(target.is_read());
        }
        match setting.convert_open(action, &input, (&mut output, &name), run_options, messages)? {
            Some(problem) if problem.is_error() => return Err(problem),
            Some(problem) => messages.add(Err(problem.afterwards())),
            None => {}
        }
        joined += 1;
    }
    match joined {
        0 => Ok(()),
        _ => output.commit(Attributes::Usual, outputs),
    }
}
