//! The command line.

use std::path::PathBuf;

use crate::suites::{SUITES, Suite};

/// The usage text.
pub fn usage() -> String {
    let mut text = String::from(
        "Usage: measure SUITE [--quick] [--only NAME] [--processes N] [--against COMMIT] [--markdown] [--json FILE] [--update]\n\n",
    );
    for suite in &SUITES {
        text += &format!("  {:16} {}\n", suite.name, suite.about);
    }
    text + "  all              all suites, one after another
  suite            applications, next to other libraries: `suite --help`

  --quick          fewer and shorter rounds, for a first look
  --only NAME      measure one group of rows (an unknown name lists the groups)
  --processes N    measure in N processes, one after another, and print the least, the middle and the largest median
  --against COMMIT rows of the core for this state and for an earlier commit in turn: the ratio of their times
  --markdown       print the whole table as Markdown
  --json FILE      write the table with all numbers to FILE as JSON
  --update         replace the table in RESULTS.md, and write its numbers to results/*.json; with --only, where the group has a table
"
}

/// How the table is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Text,
    Markdown,
}

#[derive(Debug)]
pub struct Arguments {
    pub suites: Vec<&'static Suite>,
    pub quick: bool,
    pub only: Option<String>,
    /// In how many processes to measure, if not in this one.
    pub processes: Option<usize>,
    /// The commit with which the core is compared.
    pub against: Option<String>,
    pub form: Form,
    pub json: Option<PathBuf>,
    pub update: bool,
}

impl Arguments {
    /// Parses the words of the command line. Returns `None` if the user asked for help.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Option<Self>, String> {
        let mut words = words.into_iter();
        let suites: Vec<&'static Suite> = match words.next().as_deref() {
            Some("--help" | "-h" | "help") => return Ok(None),
            Some("all") => SUITES.iter().collect(),
            Some(name) => match SUITES.iter().find(|suite| suite.name == name) {
                Some(suite) => vec![suite],
                None => return Err(format!("there is no suite `{name}`")),
            },
            None => return Err("name the suite to measure".into()),
        };
        let mut arguments = Self {
            suites,
            quick: false,
            only: None,
            processes: None,
            against: None,
            form: Form::Text,
            json: None,
            update: false,
        };
        while let Some(word) = words.next() {
            let mut value = |of: &str| words.next().ok_or(format!("{of} needs a value"));
            match word.as_str() {
                "--quick" => arguments.quick = true,
                "--only" => arguments.only = Some(value("--only")?),
                "--processes" => {
                    let number = value("--processes")?;
                    let wrong = || format!("--processes needs a whole number of at least 1, not {number}");
                    let number = number.parse().ok().filter(|&number| number > 0).ok_or_else(wrong)?;
                    arguments.processes = Some(number);
                }
                "--against" => arguments.against = Some(value("--against")?),
                "--markdown" => arguments.form = Form::Markdown,
                "--json" => arguments.json = Some(value("--json")?.into()),
                "--update" => arguments.update = true,
                "--help" | "-h" => return Ok(None),
                other => return Err(format!("{other} means nothing here")),
            }
        }
        arguments.check()?;
        Ok(Some(arguments))
    }

    fn check(&self) -> Result<(), String> {
        let several = self.suites.len() > 1;
        if several && (self.only.is_some() || self.json.is_some()) {
            return Err("--only and --json are for one suite".into());
        }
        if self.processes.is_some() && (several || self.json.is_some() || self.update) {
            return Err("--processes is for one suite, and does not go with --json or --update".into());
        }
        if self.against.is_some()
            && (several || self.suites[0].name != "core" || self.processes.is_some() || self.update)
        {
            return Err("--against is for the core alone, without --processes and --update".into());
        }
        if let Some(name) = &self.only {
            let known =
                if self.against.is_some() { crate::against::names() } else { (self.suites[0].groups)() };
            if !known.contains(name) {
                return Err(format!("there is no group {name}; there are: {}", known.join(", ")));
            }
            if self.update && !self.suites[0].apart.contains(&name.as_str()) {
                return Err("RESULTS.md holds the whole table: --update does not go with this --only".into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Arguments>, String> {
        Arguments::parse(line.split_whitespace().map(String::from))
    }

    #[test]
    fn flags_are_read_in_any_order() {
        let arguments = parse("core --json out.json --quick --markdown").unwrap().unwrap();
        assert!(arguments.quick && arguments.form == Form::Markdown && !arguments.update);
        assert_eq!(arguments.json, Some(PathBuf::from("out.json")));
    }

    #[test]
    fn processes_go_with_one_group() {
        let arguments = parse("core --only record --processes 10").unwrap().unwrap();
        assert_eq!(arguments.processes, Some(10));
    }

    #[test]
    fn all_is_every_suite() {
        let arguments = parse("all --quick --update").unwrap().unwrap();
        assert_eq!(arguments.suites.len(), SUITES.len());
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for line in ["", "nothing", "core --fast", "core --json", "core --only nothing", "all --only record"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
        assert!(parse("core --only record --update").is_err());
        assert!(parse("abz --only scaling --update").is_ok());
        for line in ["core --processes", "core --processes 0", "core --processes many", "all --processes 2"] {
            assert!(parse(line).is_err(), "{line}");
        }
        assert!(parse("core --processes 2 --json out.json").is_err());
        for line in ["core --against", "abz --against HEAD", "core --against HEAD --only record"] {
            assert!(parse(line).is_err(), "{line}");
        }
        let arguments = parse("core --against HEAD --only pipeline").unwrap().unwrap();
        assert_eq!(arguments.against.as_deref(), Some("HEAD"));
    }

    #[test]
    fn help_is_no_error() {
        assert!(parse("--help").unwrap().is_none());
        assert!(parse("core --help").unwrap().is_none());
    }
}
