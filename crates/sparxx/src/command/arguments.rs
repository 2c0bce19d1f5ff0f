//! The command line: SPar's words, our own, and those that are the compiler's.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::options::Options;

/// What `-h` says.
pub const HELP: &str = "\
spar++ runs annotated C++ loops on all cores: it translates SPar's annotations and calls a C++ compiler.

Usage: spar++ -spar_file FILE.cpp [FLAGS] [the compiler's words, such as -std=c++17 -O3 -c -o NAME]
       spar++ --check FILE.cpp...
       spar++ --plan[=text|dot|svg] FILE.cpp...
       spar++ --install-links DIR

  -spar_file FILE       the annotated file; other C++ files are looked through too
  -spar_ordered         stages see items in the loop's order, which is so without a flag
  -spar_unordered       behind a replicated stage, items come as they are done
  -spar_ondemand [Q]    at most Q items wait for each replica; 1 without a number
  -spar_blocking        waiting threads sleep, which they do without a flag
  -spar_print           print the C++ that would be compiled
  --check               say what is wrong, and compile nothing
  --plan                print the graph of each region
  --install-links DIR   make DIR/spar++ a link to this program
  -h, --version

CXX names the compiler; without it that is c++. Its exit status is the program's. SPAR_NUM_WORKERS says at run time how
many replicas `Replicate()` has.
";

/// What the program is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Translate and compile.
    Compile,
    /// Print the translation.
    Print,
    /// Say what is wrong.
    Check,
    /// Print the graphs.
    Plan(Format),
    /// Make links.
    InstallLinks(PathBuf),
    /// Explain the program.
    Help,
    /// Say the version.
    Version,
}

/// How a graph is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// In words.
    Text,
    /// For Graphviz.
    Dot,
    /// As a picture.
    Svg,
}

/// A word of the compiler's command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// An option or its value.
    Option(OsString),
    /// An input file that can hold annotations.
    Source(PathBuf),
    /// An input file of another kind.
    Input(OsString),
}

/// The command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// What to do.
    pub action: Action,
    /// SPar's flags.
    pub options: Options,
    /// The C++ files.
    pub files: Vec<PathBuf>,
    /// Files that `-spar_file` names.
    pub marked: Vec<PathBuf>,
    /// The words of the compiler, in order.
    pub words: Vec<Word>,
}

/// Options of compilers whose value is the next word.
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

/// Reads the command line, without the program's own name.
///
/// # Errors
/// If a word of SPar's or ours makes no sense: in words.
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

/// Whether a compiler takes a file for C++, by its name.
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

    /// Whether an option is there.
    pub fn has(&self, option: &str) -> bool {
        self.words.iter().any(|word| matches!(word, Word::Option(text) if text == option))
    }

    /// Whether the compiler stops before it links.
    pub fn stops_early(&self) -> bool {
        ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"].iter().any(|option| self.has(option))
    }

    /// Whether the compiler has anything to work on.
    pub fn has_input(&self) -> bool {
        self.words.iter().any(|word| !matches!(word, Word::Option(_)))
    }
}
