//! The output of `--generate`: the manual page and the completions, generated from the arguments that are parsed.

use std::io::{self, Write};

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::command::arguments::{Arguments, BEFORE_HELP, Generated};

/// A generated synopsis would repeat all options.
const SYNOPSIS: &str = r".SH SYNOPSIS
.B abz
.RI [ OPTIONS ]
.RI [ FILE ]...
";

/// The rest of the manual page, in roff.
const MORE: &str = r#".SH EXAMPLES
.TP
.B abz \-k notes.txt
makes notes.txt.gz, and keeps notes.txt.
.TP
.B abz \-d notes.txt.gz
makes notes.txt again.
.TP
.B tar c folder | abz \-9 > folder.tar.gz
compresses the data from a pipe.
.TP
.B abz \-r logs
replaces each file below the folder logs, several at a time.
.TP
.B abz \-t *.gz
reports which files are damaged, and where.
.TP
.B abz \-l *.gz
prints the sizes of their contents.
.SH EXIT STATUS
.TP
.B 0
All is well.
.TP
.B 1
An error: a file could not be read or written, or is damaged. Its output was not created, and its input is as
it was. The other files were processed.
.TP
.B 2
A warning, without risk for the data: for example an output that exists already, a folder without \-r, or
trailing garbage.
.PP
On SIGINT, SIGTERM and SIGHUP, abz removes incomplete outputs and is ended by the signal.
.SH FILES
An incomplete output is named .abz\-XXXXXX.tmp and lies in the folder of the output. Only a crash of the
machine, or SIGKILL, leaves such a file behind; it can be removed.
.SH NOTES
Files of bzip2 are one stream, as bzip2 writes them.
Files of zstd (RFC 8878) are one frame, and any program that reads zstd reads them.
Files of gzip (RFC 1952) are one member without an extra field, and any program that reads gzip reads them. In files of several
blocks, empty deflate blocks record where the others are, so that abz can decompress them with all threads. The same input,
level, block size, name and time always give the same bytes.
.PP
Data that is compressed already is recognised, and stored.
.PP
Zeros after the last member are ignored; other bytes there are a warning, and an error if another member begins among them.
.PP
On a terminal, a run that takes longer than half a second shows its progress on standard error.
.SH SEE ALSO
.BR gzip (1),
.BR zcat (1),
.BR zstd (1),
.BR tar (1)
"#;

/// Writes the page or the completions to `out`.
pub(crate) fn write(generated: Generated, out: &mut impl Write) -> io::Result<()> {
    let shell = match generated {
        Generated::Man => return write_manual(out),
        Generated::Bash => Shell::Bash,
        Generated::Elvish => Shell::Elvish,
        Generated::Fish => Shell::Fish,
        Generated::PowerShell => Shell::PowerShell,
        Generated::Zsh => Shell::Zsh,
    };
    let mut completions = Vec::new();
    generate(shell, &mut Arguments::command(), "abz", &mut completions);
    if shell == Shell::Bash {
        completions = for_bash(&String::from_utf8_lossy(&completions)).into_bytes();
    }
    out.write_all(&completions)
}

/// Changes the completions of bash: a word that is no option is a file, which bash completes itself if nothing is proposed. Bash
/// makes words of their own of = and of what follows it.
fn for_bash(generated: &str) -> String {
    const PREVIOUS: &str = "    prev=\"$3\"\n";
    const AFTER_EQUALS: &str = "    if [[ \"${prev}\" == \"=\" ]]; then\n        prev=\"${COMP_WORDS[COMP_CWORD-2]}\"\n    \
                                elif [[ \"${cur}\" == \"=\" ]]; then\n        cur=\"\"\n    fi\n";
    const ANY: &str = "COMPREPLY=( $(compgen -W \"${opts}\" -- \"${cur}\") )";
    let changed = generated
        .replace(" [FILE]...\"", "\"")
        .replace("if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]]", "if [[ ${cur} == -* ]]")
        .replace(PREVIOUS, &format!("{PREVIOUS}{AFTER_EQUALS}"));
    match changed.rsplit_once(ANY) {
        Some((before, after)) => format!("{before}COMPREPLY=(){after}"),
        None => changed,
    }
}

fn write_manual(out: &mut impl Write) -> io::Result<()> {
    // The introduction and examples of the help are longer in the manual page.
    let command: Command =
        Arguments::command().before_help("").after_help("").mut_arg("inputs", |files| files.hide(true));
    let man = Man::new(command);
    man.render_title(out)?;
    man.render_name_section(out)?;
    out.write_all(SYNOPSIS.as_bytes())?;
    writeln!(out, ".SH DESCRIPTION\n{}", BEFORE_HELP.replace('-', "\\-"))?;
    man.render_options_section(out)?;
    out.write_all(MORE.as_bytes())
}
