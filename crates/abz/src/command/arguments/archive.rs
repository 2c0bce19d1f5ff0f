//! Options for tar archives.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Options for tar archives.
#[derive(Debug, Args)]
#[command(next_help_heading = "Actions [default: compress]")]
pub struct Archive {
    /// Put files and folders into the archive OUT (- for standard output)
    ///
    /// OUT is a tar archive, compressed in the format that its suffix names (.tar.gz, .tgz, .tar.bz2 and so on) or -F
    /// names; .tar is not compressed. The order of members depends on their names alone. All FILEs stay. Hard links
    /// stay links; pipes, sockets and devices are left out. With --sparse, holes are stored as such, in the form of GNU
    /// tar: the archive then depends on where files have holes.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["decompress", "test", "list", "stdout", "output", "explain", "report", "trace", "verify", "checksum"])]
    pub archive: Option<PathBuf>,

    /// Set the time of all members to SECONDS since 1970
    #[arg(long, value_name = "SECONDS", requires = "archive", hide_short_help = true)]
    pub mtime: Option<u64>,

    /// Set the owner of all members to these numbers of a user and a group
    #[arg(long, value_name = "USER:GROUP", value_parser = parse_owner, requires = "archive", hide_short_help = true)]
    pub owner: Option<(u32, u32)>,

    /// Extract archives; FILE stays
    ///
    /// FILE is a tar archive, compressed or not. Nothing is created outside of the folder: names that lead out of it,
    /// names through links, devices and pipes are refused. Existing files stay unless -f is given. If several members
    /// have the same name, the last one remains. Sparse files are created as GNU tar creates them. Permissions and times
    /// are restored, owners are not.
    #[arg(long, conflicts_with_all = ["archive", "test", "list", "stdout", "output", "explain", "report", "trace", "checksum"])]
    pub extract: bool,

    /// Extract archives to the folder DIR
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
