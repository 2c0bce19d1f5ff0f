//! The command line: SPar's flags, the flags of `spar++`, and the arguments of the compiler.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::options::Options;

/// The text of `-h`.
pub const HELP: &str = "\
spar++ runs annotated C++ loops on all cores: it translates SPar's annotations and calls a C++ compiler.

Usage: spar++ -spar_file FILE.cpp [FLAGS] [arguments of the compiler, such as -std=c++17 -O3 -c -o NAME]
       spar++ --check FILE.cpp...
       spar++ --plan[=text|dot|svg] FILE.cpp...
       spar++ --install-links DIR

  -spar_file FILE       an annotated file; other C++ files are searched for annotations too
  -spar_ordered         stages take items in the order of the loop (the default)
  -spar_unordered       stages behind a replicated stage take items in the order in which they finish
  -spar_ondemand [Q]    at most Q items wait for each replica; 1 if Q is left out
  -spar_blocking        waiting threads sleep (the default)
  -spar_print           print the C++ that would be compiled
  --check               print errors and warnings, and compile nothing
  --plan                print the graph of each region
  --install-links DIR   make DIR/spar++ a link to this program
  -h, --version

The environment variable CXX names the compiler; the default is c++. The translated code needs C++17: an older standard,
such as -std=c++1y, becomes C++17, and spar++ says so. spar++ returns the exit status of the compiler. When the compiled
program runs, SPAR_NUM_WORKERS sets the number of replicas for `Replicate()`.
";

/// The action of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Translate and compile.
    Compile,
    /// Print the translation.
    Print,
    /// Print errors and warnings.
    Check,
    /// Print the graphs.
    Plan(Format),
    /// Make a link to the program in a folder.
    InstallLinks(PathBuf),
    /// Print the help.
    Help,
    /// Print the version.
    Version,
}

/// The format of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text.
    Text,
    /// The language of Graphviz.
    Dot,
    /// A picture.
    Svg,
}

/// An argument of the compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// An option, or the value of one.
    Option(OsString),
    /// An input file that can hold annotations.
    Source(PathBuf),
    /// An input file of another kind.
    Input(OsString),
}

/// The command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// The action.
    pub action: Action,
    /// SPar's flags.
    pub options: Options,
    /// The C++ files.
    pub files: Vec<PathBuf>,
    /// Files that `-spar_file` names.
    pub marked: Vec<PathBuf>,
    /// The arguments of the compiler, in order.
    pub words: Vec<Word>,
}

/// Options of compilers whose value is the next argument.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-L",
    "-l",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-isysroot",
    "--sysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-T",
    "-u",
    "-z",
    "-e",
    "-aux-info",
    "--param",
    "-arch",
    "-target",
    "-framework",
    "-G",
    "-wrapper",
    "-specs",
    "-dumpbase",
    "-B",
    "-A",
];

/// Parses the command line, which does not include the program's own name.
///
/// # Errors
/// A message, if a flag of SPar or of `spar++` is unknown or lacks its value.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Arguments, String> {
    let mut found = Arguments {
        action: Action::Compile,
        options: Options::default(),
        files: Vec::new(),
        marked: Vec::new(),
        words: Vec::new(),
    };
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        match &*text {
            "-h" | "--help" | "-spar_help" => found.action = Action::Help,
            "--version" if words.peek().is_none() && found.words.is_empty() => found.action = Action::Version,
            "--check" => found.action = Action::Check,
            "-spar_print" => found.action = Action::Print,
            "--plan" | "--plan=text" => found.action = Action::Plan(Format::Text),
            "--plan=dot" => found.action = Action::Plan(Format::Dot),
            "--plan=svg" => found.action = Action::Plan(Format::Svg),
            _ if text.starts_with("--plan=") => {
                return Err(format!("{text}: a graph is printed as text, dot or svg"));
            }
            "--install-links" => {
                let folder = words.next().ok_or("--install-links needs a folder")?;
                found.action = Action::InstallLinks(folder.into());
            }
            "-spar_file" => {
                let file = words.next().ok_or("-spar_file needs a file")?;
                if file.to_string_lossy().starts_with('-') {
                    return Err(format!(
                        "-spar_file needs a file, and `{}` is an option",
                        file.to_string_lossy()
                    ));
                }
                found.marked.push(file.clone().into());
                found.source(file);
            }
            "-spar_ordered" => found.options.is_ordered = true,
            "-spar_unordered" => found.options.is_ordered = false,
            "-spar_blocking" => found.options.is_blocking = true,
            "-spar_ondemand" => {
                let is_number = |word: &OsString| {
                    let word = word.to_string_lossy();
                    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
                };
                let number = words.next_if(is_number).map(|word| word.to_string_lossy().into_owned());
                let number = number.map(|number| {
                    let fits = number.parse().ok().filter(|number| (1..=1_000_000).contains(number));
                    fits.ok_or(format!(
                        "-spar_ondemand {number}: 1 to 1000000 items can wait for each replica"
                    ))
                });
                found.options.on_demand = Some(number.transpose()?.unwrap_or(1));
            }
            "-spar_cluster" => {
                return Err(
                    "-spar_cluster: programs that run on several machines are not supported".to_owned()
                );
            }
            _ if text.starts_with("-spar_") => {
                return Err(format!("{text}: SPar has no such flag; `spar++ -h` lists those that there are"));
            }
            _ if WITH_VALUE.contains(&&*text) => {
                found.words.push(Word::Option(word));
                if let Some(value) = words.next() {
                    found.words.push(Word::Option(value));
                }
            }
            "-" => found.words.push(Word::Input(word)),
            _ if text.starts_with('-') || text.starts_with('@') => found.words.push(Word::Option(word)),
            _ if is_cpp(&word) => found.source(word),
            _ => found.words.push(Word::Input(word)),
        }
    }
    Ok(found)
}

/// Returns whether a file has the name of a C++ file.
fn is_cpp(name: &OsStr) -> bool {
    let path = std::path::Path::new(name);
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
    matches!(&*ending, "cpp" | "cc" | "cxx" | "C" | "c++" | "cp" | "CPP")
}

impl Arguments {
    fn source(&mut self, file: OsString) {
        let path = PathBuf::from(file);
        if !self.files.contains(&path) {
            self.files.push(path.clone());
            self.words.push(Word::Source(path));
        }
    }

    /// Returns whether the compiler gets this option.
    pub fn has(&self, option: &str) -> bool {
        self.words.iter().any(|word| matches!(word, Word::Option(text) if text == option))
    }

    /// Returns whether the compiler stops before it links.
    pub fn stops_early(&self) -> bool {
        ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"].iter().any(|option| self.has(option))
    }

    /// Returns whether the compiler gets any input file.
    pub fn has_input(&self) -> bool {
        self.words.iter().any(|word| !matches!(word, Word::Option(_)))
    }
}
