//! Several inputs to one output: what comes of each stands behind what came of those before it, in their order.

use abz::Conduct;

use super::ask;
use super::console::Console;
use super::input::Input;
use super::job::Setting;
use super::options::{Destination, Options};
use super::output::{Attributes, Output};
use super::problem::Problem;
use super::target::Target;
use super::told::Told;
use super::walk::Walk;

/// Whether the command line asks for that.
pub(super) fn is_asked_for(options: &Options) -> bool {
    matches!(options.destination, Destination::File(_)) && (options.sources.len() > 1 || options.recursive)
}

/// Converts all inputs to the one output, which gets its name when all are in it. An input that cannot be opened is passed
/// over, as zstd does it; where one fails after that, there is no output.
pub(super) fn run(setting: Setting<'_>, conduct: Conduct<'_>, console: &mut Console) {
    let mut told = Told::default();
    let result = join(setting, conduct, console, &mut told);
    told.add(result);
    console.tell(&told);
}

fn join(
    setting: Setting<'_>,
    conduct: Conduct<'_>,
    console: &mut Console,
    told: &mut Told,
) -> Result<(), Problem> {
    let options = setting.options;
    let Destination::File(path) = &options.destination else { return Ok(()) };
    let target = Target::File(path.clone());
    let overwrite = options.force || setting.asks && ask::may_overwrite(&target, options, setting.progress);
    let mut output = Output::open_over(target, options, false, overwrite)?.in_order();
    let mut joined = 0;
    for input in Walk::new(options) {
        match input {
            Ok(input) => {
                setting.append(&input, &mut output, conduct, told)?;
                joined += 1;
            }
            Err(problem) => console.tell_problem(&problem),
        }
    }
    match joined {
        0 => Ok(()),
        _ => output.commit(Attributes::Usual, options),
    }
}

impl Setting<'_> {
    /// Converts one input to the end of `output`.
    fn append(
        &self,
        input: &Input,
        output: &mut Output,
        conduct: Conduct<'_>,
        told: &mut Told,
    ) -> Result<(), Problem> {
        let name = output.to_string();
        let garbage = self.convert_open(input, (output, &name), conduct, told)?;
        match garbage {
            Some(problem) if problem.is_error() => Err(problem),
            Some(problem) => {
                told.add(Err(problem.afterwards()));
                Ok(())
            }
            None => Ok(()),
        }
    }
}
