//! The command line.

use std::path::PathBuf;

pub const USAGE: &str = "\
Usage: anabranch-bench core [--quick] [--only NAME] [--markdown] [--json FILE] [--update-readme]

  core             the targets of the core, each against its ceiling or its rival
  --quick          fewer and shorter rounds: about a minute, for a look
  --only NAME      one group of rows (an unknown name lists them)
  --markdown       print the table as README.md has it
  --json FILE      write it to FILE as well
  --update-readme  put it into README.md, in place of the one that is there
";

/// How the table is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Text,
    Markdown,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    pub quick: bool,
    pub only: Option<String>,
    pub form: Form,
    pub json: Option<PathBuf>,
    pub update_readme: bool,
}

impl Arguments {
    /// `None` where help was asked for.
    ///
    /// # Errors
    /// What is wrong, as a sentence.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Option<Self>, String> {
        let mut words = words.into_iter();
        match words.next().as_deref() {
            Some("core") => {}
            Some("--help" | "-h" | "help") => return Ok(None),
            Some(other) => return Err(format!("there is no suite called {other}")),
            None => return Err("say what to measure".into()),
        }
        let mut arguments =
            Self { quick: false, only: None, form: Form::Text, json: None, update_readme: false };
        while let Some(word) = words.next() {
            let mut value = |of: &str| words.next().ok_or(format!("{of} needs a value"));
            match word.as_str() {
                "--quick" => arguments.quick = true,
                "--only" => arguments.only = Some(value("--only")?),
                "--markdown" => arguments.form = Form::Markdown,
                "--json" => arguments.json = Some(value("--json")?.into()),
                "--update-readme" => arguments.update_readme = true,
                "--help" | "-h" => return Ok(None),
                other => return Err(format!("{other} means nothing here")),
            }
        }
        if let Some(name) = &arguments.only {
            if !crate::core::names().any(|known| known == name) {
                let known: Vec<&str> = crate::core::names().collect();
                return Err(format!("there is no group {name}; there are {}", known.join(", ")));
            }
            if arguments.update_readme {
                return Err("README.md holds the whole table: --update-readme does not go with --only".into());
            }
        }
        Ok(Some(arguments))
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
        assert!(arguments.quick && arguments.form == Form::Markdown && !arguments.update_readme);
        assert_eq!(arguments.json, Some(PathBuf::from("out.json")));
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for line in ["", "rivals", "core --fast", "core --json", "core --only nothing"] {
            assert!(parse(line).is_err(), "{line}");
        }
        assert!(parse("core --only record --update-readme").is_err());
    }

    #[test]
    fn help_is_no_error() {
        assert_eq!(parse("--help"), Ok(None));
        assert_eq!(parse("core --help"), Ok(None));
    }
}
