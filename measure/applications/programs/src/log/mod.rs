//! Analyses the log of a web server, line by line. The items are small, so this shows what an item costs.

mod observed;
mod sequential;

use std::collections::BTreeMap;

use crate::random::Random;
use crate::{About, Output, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// A log.
#[derive(Debug)]
pub struct Input {
    text: String,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "log",
        what: "parses each line of a web server's log and keeps figures for each path",
        item: "a line of about 95 bytes",
        unit: "lines",
        workloads: &["lines"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let lines = scale.choose(500, 150_000, 1_500_000);
        let mut random = Random::new(2);
        let mut text = String::with_capacity(lines * 100);
        for at in 0..lines {
            let path = random.below(200) * random.below(200) / 200;
            let status = [200, 200, 200, 200, 304, 404, 500][random.below(7)];
            let (bytes, micros) = (random.below(60_000), 300 + random.below(40_000));
            let (hour, minute, second) = (at / 3600 % 24, at / 60 % 60, at % 60);
            text += &format!(
                "10.{}.{}.{} - - [22/Nov/2026:{hour:02}:{minute:02}:{second:02} +0000] \
                 \"GET /shop/articles/{path}?page={} HTTP/1.1\" {status} {bytes} {micros}\n",
                random.below(256),
                random.below(256),
                random.below(256),
                random.below(10),
            );
        }
        (name == "lines").then_some(Self { text })
    }

    fn amount(&self) -> f64 {
        self.lines().count() as f64
    }
}

impl Input {
    /// The source: the lines.
    pub fn lines(&self) -> impl Iterator<Item = &str> + Send {
        self.text.lines()
    }
}

/// A request, as its line tells it.
#[derive(Debug)]
pub struct Request<'a> {
    path: &'a str,
    client: u32,
    status: u16,
    bytes: u64,
    micros: u64,
}

/// The parallel stage: parses a line. A line in another form gives `None`.
pub fn parse(line: &str) -> Option<Request<'_>> {
    let (client, rest) = line.split_once(" - - [")?;
    let (_time, rest) = rest.split_once("] \"")?;
    let (request, figures) = rest.split_once("\" ")?;
    let address = request.split(' ').nth(1)?;
    let path = address.split_once('?').map_or(address, |(path, _query)| path);
    let mut numbers = figures.split(' ');
    let mut octets = client.split('.');
    let mut octet = || octets.next()?.parse::<u8>().ok();
    Some(Request {
        path,
        client: u32::from_be_bytes([octet()?, octet()?, octet()?, octet()?]),
        status: numbers.next()?.parse().ok()?,
        bytes: numbers.next()?.parse().ok()?,
        micros: numbers.next()?.parse().ok()?,
    })
}

/// The serial stage: figures for each path. The moving average depends on the order of the lines.
#[derive(Debug, Default)]
pub struct Figures<'a> {
    paths: BTreeMap<&'a str, [u64; 5]>,
    unreadable: u64,
}

impl<'a> Figures<'a> {
    /// Adds a request.
    pub fn add(&mut self, request: Option<Request<'a>>) {
        let Some(Request { path, client, status, bytes, micros }) = request else {
            self.unreadable += 1;
            return;
        };
        let [requests, failed, sent, average, last] = self.paths.entry(path).or_default();
        *requests += 1;
        *failed += u64::from(status >= 400);
        *sent += bytes;
        *average = (*average * 15 + micros * 1_024) / 16;
        *last = u64::from(client);
    }

    /// Writes all figures.
    pub fn write(&self, output: &mut Output) {
        for (path, figures) in &self.paths {
            output.write(format!("{path} {figures:?}").as_bytes());
        }
        output.write(&self.unreadable.to_le_bytes());
    }
}
