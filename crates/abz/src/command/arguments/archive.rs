//! Archives: many files as one.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// What archives are made of, and where they are taken apart.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to do [compress]")]
pub struct Archive {
    /// Put files and folders into the archive OUT (- for standard output)
    ///
    /// It is a tar archive, compressed to the format that the end of OUT says (.tar.gz, .tgz, .tar.bz2 and so on) or -F;
    /// with .tar it is not compressed. Its order depends on the names alone. All FILEs stay. Hard links stay links; pipes, sockets and devices are left out.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["decompress", "test", "list", "stdout", "output", "explain", "report", "trace", "verify", "checksum"])]
    pub archive: Option<PathBuf>,

    /// Let all in the archive have the time SECONDS (since 1970)
    #[arg(long, value_name = "SECONDS", requires = "archive", hide_short_help = true)]
    pub mtime: Option<u64>,

    /// Let all in the archive belong to the user and the group of these numbers
    #[arg(long, value_name = "USER:GROUP", value_parser = parse_owner, requires = "archive", hide_short_help = true)]
    pub owner: Option<(u32, u32)>,

    /// Take archives apart; FILE stays
    ///
    /// FILE is a tar archive, compressed or not. Whatever it says, nothing is made outside of the folder: names that lead out
    /// of it, and names through links, are refused, as are devices and pipes. Files that exist stay as they are without -f;
    /// of several members with one name the last one counts. Sparse files are made as GNU tar makes them. Rights and times
    /// are taken over, owners are not.
    #[arg(long, conflicts_with_all = ["archive", "test", "list", "stdout", "output", "explain", "report", "trace", "checksum"])]
    pub extract: bool,

    /// Take archives apart in the folder DIR
    #[arg(short = 'C', long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "extract", hide_short_help = true)]
    pub directory: Option<PathBuf>,
}

fn parse_owner(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once(':').map(|(user, group)| (user.parse(), group.parse()));
    match numbers {
        Some((Ok(user), Ok(group))) => Ok((user, group)),
        _ => Err("expected two numbers, such as 0:0".into()),
    }
}
