//! An analyser of a server's log, with errors of two kinds: how often each status was given, and which answer was longest.
//!
//!     cargo run --release --example requests -- access.log

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::num::ParseIntError;
use std::{env, fs};

use anabranch::{Stream, TryStream};

/// One line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The path that was asked for.
    pub path: String,
    /// The status of the answer.
    pub status: u16,
    /// The length of the answer, in bytes.
    pub bytes: u64,
}

/// The reason why a log could not be analysed.
#[derive(Debug)]
pub enum Trouble {
    /// The log could not be read.
    Input(io::Error),
    /// A field is no number.
    Number(ParseIntError),
    /// A line does not have three fields.
    Line(String),
}

impl From<ParseIntError> for Trouble {
    fn from(error: ParseIntError) -> Self {
        Trouble::Number(error)
    }
}

fn parse(line: &str) -> Result<Request, Trouble> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [path, status, bytes] = fields[..] else { return Err(Trouble::Line(line.to_owned())) };
    Ok(Request { path: path.to_owned(), status: status.parse()?, bytes: bytes.parse()? })
}

/// The requests of a log: read by one thread after another, and parsed on all cores.
pub fn requests<'a>(log: impl BufRead + Send + 'a) -> TryStream<'a, Request, Trouble> {
    Stream::try_from_iter(log.lines()).map_err(Trouble::Input).try_map(|line| parse(&line))
}

/// How often each status was given.
pub fn statuses(log: impl BufRead + Send) -> Result<BTreeMap<u16, usize>, Trouble> {
    requests(log).map(|request| request.status).fold(BTreeMap::new(), |mut counts, status| {
        *counts.entry(status).or_default() += 1;
        counts
    })
}

/// The request with the longest answer.
pub fn longest(log: impl BufRead + Send) -> Result<Option<Request>, Trouble> {
    requests(log)
        .filter(|request| request.status == 200)
        .with_iter(|requests| requests.max_by_key(|request| request.bytes))
}

fn main() -> Result<(), Trouble> {
    let log = match env::args().nth(1) {
        Some(path) => fs::read_to_string(path).map_err(Trouble::Input)?,
        None => "/ 200 512\n/river 200 4096\n/sea 404 80\n".to_owned(),
    };
    println!("{:?}", statuses(log.as_bytes())?);
    println!("{:?}", longest(log.as_bytes())?);
    Ok(())
}
