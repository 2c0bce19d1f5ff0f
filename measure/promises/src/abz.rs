//! The suite of `abz`: whole processes on real files, next to the peers that are installed.
//!
//! `measure/abz/compare.py` runs and verifies them. This suite builds `abz`, has the inputs created, and
//! compares the samples with the targets.

use std::collections::BTreeMap;
use std::process::Command;

use serde::Deserialize;

use crate::corpus::{corpus, done};
use crate::look::{Look, Measured};
use measure_harness::builds;
use measure_harness::rounds::Unmeasured;
use measure_harness::statistics::Summary;
use measure_harness::table::{Outcome, Row};
use measure_harness::target::{Target, Unit};

/// The most time that abz may take: a part of a task's title, the peer, and the target in percent of the peer's time. If
/// the peer is abz itself, the target is in milliseconds.
const TARGETS: [(&str, &str, f64); 37] = [
    ("compress text, level 6", "pigz -p2", 44.0),
    ("compress source, level 6", "pigz -p2", 44.0),
    ("compress text, level 6", "crabz -p2", 78.0),
    ("compress source, level 6", "crabz -p2", 78.0),
    ("compress text, level 1", "igzip -1", 60.0),
    ("compress source, level 1", "igzip -1", 60.0),
    ("compress media", "crabz -p2", 20.0),
    ("that abz compressed to /dev/null", "igzip", 60.0),
    ("that abz compressed to a file", "igzip", 65.0),
    ("that abz compressed", "libdeflate-gunzip", 65.0),
    ("that gzip -6 compressed", "pigz -p2", 56.0),
    ("that gzip -6 compressed to /dev/null", "igzip", 95.0),
    ("that gzip -6 compressed to a file", "igzip", 75.0),
    ("1,000 files", "xargs -P2 -n32 gzip", 48.0),
    ("two of 200 MiB", "xargs -P2 -n64 gzip", 60.0),
    ("two of 200 MiB", "pigz -r -p2", 60.0),
    ("6,000 small files", "xargs -P2 -n64 gzip", 50.0),
    ("compress text, bzip2", "lbzip2 -n2", 80.0),
    ("compress source, bzip2", "lbzip2 -n2", 80.0),
    ("decompress text that bzip2", "lbzip2 -n2", 85.0),
    ("decompress source that bzip2", "lbzip2 -n2", 85.0),
    ("compress 64 MiB of text, lzip", "plzip -n2", 90.0),
    ("compress 64 MiB of source, lzip", "plzip -n2", 95.0),
    ("decompress 64 MiB of text that plzip", "plzip -n2", 95.0),
    ("decompress 64 MiB of source that plzip", "plzip -n2", 95.0),
    ("compress 48 MiB of text, xz", "xz -T2", 95.0),
    ("compress 48 MiB of source, xz", "xz -T2", 95.0),
    ("decompress 48 MiB of text that xz", "xz -T2", 100.0),
    ("decompress 48 MiB of source that xz", "xz -T2", 100.0),
    ("compress text, zstd -3", "zstd -T2", 100.0),
    ("compress source, zstd -3", "zstd -T2", 100.0),
    ("compress 64 MiB of text, zstd -19", "zstd -T2", 100.0),
    ("compress 64 MiB of source, zstd -19", "zstd -T2", 100.0),
    ("that abz -F zstd", "zstd", 60.0),
    ("decompress text that zstd", "zstd", 100.0),
    ("decompress source that zstd", "zstd", 100.0),
    ("1 MiB in the middle of 1 GiB", "abz", 3.0),
];
/// How many bytes abz may write at most, in percent of a peer: a part of a task's title, the peer, and the
/// target.
const SIZES: [(&str, &str, f64); 14] = [
    ("compress text, level 6", "pigz -p2", 100.3),
    ("compress source, level 6", "pigz -p2", 100.3),
    ("compress text, level 1", "igzip -1", 100.0),
    ("compress source, level 1", "igzip -1", 100.0),
    ("compress text, bzip2", "bzip2", 100.1),
    ("compress source, bzip2", "bzip2", 100.1),
    ("of text, lzip", "plzip -n2", 100.0),
    ("of source, lzip", "plzip -n2", 100.0),
    ("of text, xz", "xz -T2", 100.0),
    ("of source, xz", "xz -T2", 100.0),
    ("compress text, zstd -3", "zstd -T2", 101.0),
    ("compress source, zstd -3", "zstd -T2", 101.0),
    ("of text, zstd -19", "zstd -T2", 101.0),
    ("of source, zstd -19", "zstd -T2", 101.0),
];
/// The most memory in MiB, by a part of the title. xz and lzip hold three dictionaries for each worker, and
/// 32 MiB; what inflates files of gzip holds 6 MiB for each, and 8.
const MEMORY: [(&str, f64); 7] = [
    ("bzip2", 60.0),
    ("xz -6", 3.0 * 8.0 * 2.0 + 32.0),
    ("lzip -6", 3.0 * 8.0 * 2.0 + 32.0),
    ("gzip -6 compressed, -p1", 8.0 + 6.0),
    ("gzip -6 compressed, -p2", 8.0 + 6.0 * 2.0),
    ("gzip -6 compressed, -p4", 8.0 + 6.0 * 4.0),
    ("", 32.0),
];
const BYTES_GROUP: &str = "bytes out, of a peer's";
const MEMORY_GROUP: &str = "memory: the most that abz held, with `-p2` where nothing is said";

/// The output of compare.py.
#[derive(Debug, Deserialize)]
struct Compared {
    versions: BTreeMap<String, Option<String>>,
    tasks: Vec<Task>,
    memory: Vec<Memory>,
}

#[derive(Debug, Deserialize)]
struct Task {
    title: String,
    kept: usize,
    dropped: usize,
    busy: bool,
    contenders: Vec<Contender>,
}

#[derive(Debug, Deserialize)]
struct Contender {
    name: String,
    /// Why there are no samples, if the peer is installed and there are none.
    failed: Option<String>,
    /// Wall times in seconds, and those of abz in the same rounds.
    #[serde(default)]
    walls: Vec<f64>,
    #[serde(default)]
    of_abz: Vec<f64>,
    #[serde(default)]
    cpu: f64,
    #[serde(default)]
    bytes: u64,
}

#[derive(Debug, Deserialize)]
struct Memory {
    title: String,
    mib: f64,
}

/// The names for `--only`. compare.py accepts any part of a task's title.
pub fn names() -> Vec<String> {
    [
        "compress text",
        "compress source",
        "compress media",
        "decompress text",
        "decompress source",
        "1,000 files",
        "6,000 small files",
        "memory",
        "that gzip -6 compressed, -p",
    ]
    .map(String::from)
    .to_vec()
}

/// Builds abz, compares it with its peers, and judges.
pub fn measure(look: &Look) -> Measured {
    match compare(look) {
        Ok(compared) => judge(&compared, look.quick),
        Err(why) => Measured::impossible("abz", why),
    }
}

fn compare(look: &Look) -> Result<Compared, String> {
    let abz = builds::anabranch(&["abz"])?.join("abz");
    let corpus = corpus(look)?;
    let json = builds::folder().join("abz-compared.json");
    let mut compare = Command::new(builds::source("abz/compare.py"));
    compare.arg("--corpus").arg(&corpus).arg("--abz").arg(abz).arg("--json").arg(&json);
    // Limits the time of each task to less than a minute, however busy the machine is.
    compare.args(["--patience", "45"]);
    if look.quick {
        compare.arg("--quick");
    }
    if let Some(only) = &look.only {
        compare.arg("--only").arg(only);
    }
    done(&mut compare)?;
    let text = std::fs::read_to_string(&json).map_err(|error| format!("{}: {error}", json.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", json.display()))
}

fn judge(compared: &Compared, quick: bool) -> Measured {
    let mut rows: Vec<Row> = compared.tasks.iter().flat_map(rows).collect();
    if !quick {
        rows.extend(bytes(&compared.tasks));
    }
    for Memory { title, mib } in &compared.memory {
        let target = MEMORY.iter().find(|(part, _)| title.contains(part));
        let target = target.map_or(Target::None, |&(_, most)| Target::AtMost(most));
        rows.push(Row::single(MEMORY_GROUP, title, (target, Unit::Mebibytes), *mib, String::new()));
    }
    let version = |(name, version): (&String, &Option<String>)| match version {
        Some(version) if version.contains(name.as_str()) => version.clone(),
        Some(version) => format!("{name} {version}"),
        None => format!("{name} is not installed"),
    };
    let notes = vec![compared.versions.iter().map(version).collect::<Vec<_>>().join("; ")];
    Measured { rows, notes }
}

/// The rows of a task: abz itself, and its time in percent of each peer's.
fn rows(task: &Task) -> Vec<Row> {
    let busy = if task.busy { "; THE MACHINE WAS BUSY" } else { "" };
    let row = |contender: &Contender| {
        let (own, name) = (contender.name == "abz", contender.name.as_str());
        let target = TARGETS.iter().find(|target| task.title.contains(target.0) && name == target.1);
        let target = target.map_or(Target::None, |target| Target::AtMost(target.2));
        let (what, unit) =
            if own { (name.into(), Unit::Milliseconds) } else { (format!("of {name}"), Unit::Percent) };
        if contender.walls.is_empty() {
            let why = match &contender.failed {
                Some(why) => Unmeasured::Impossible(why.clone()),
                None => Unmeasured::NotInstalled(String::new()),
            };
            return Row::without(&task.title, what, (target, unit), why);
        }
        let shares = contender.of_abz.iter().zip(&contender.walls).map(|(abz, peer)| 100.0 * abz / peer);
        let millis = Summary::of(contender.walls.iter().map(|wall| 1e3 * wall));
        let summary = if own { millis } else { Summary::of(shares) };
        let wall = if own { String::new() } else { format!("{}, ", Unit::Milliseconds.show(millis.median)) };
        let (cpu, bytes) = (1e3 * contender.cpu, grouped(contender.bytes));
        let outcome = Outcome::measured(summary, target, (contender.walls.len(), task.dropped));
        let remark = format!("{wall}{cpu:.0} ms of processors, {bytes} bytes out{busy}");
        Row::of(&task.title, what, (target, unit), outcome, remark)
    };
    debug_assert!(task.kept >= task.contenders[0].walls.len());
    task.contenders.iter().map(row).collect()
}

/// The rows about how many bytes abz writes in percent of its peers, and at level 6 of gzip for both texts
/// together.
fn bytes(tasks: &[Task]) -> Vec<Row> {
    let pair = |part: &str, peer: &str| {
        let task = tasks.iter().find(|task| task.title.contains(part))?;
        let of = |name: &str| task.contenders.iter().find(|c| c.name == name && c.bytes > 0).map(|c| c.bytes);
        Some((task.title.as_str(), of("abz")?, of(peer)?))
    };
    let row = |what: &str, peer: &str, (abz, peers): (u64, u64), target: f64| {
        let remark = format!("{} bytes, {peer} {}", grouped(abz), grouped(peers));
        let share = 100.0 * abz as f64 / peers as f64;
        Row::single(BYTES_GROUP, what, (Target::AtMost(target), Unit::Percent), share, remark)
    };
    let mut rows: Vec<Row> = SIZES
        .iter()
        .filter_map(|&(part, peer, target)| {
            let (title, abz, peers) = pair(part, peer)?;
            Some(row(title, peer, (abz, peers), target))
        })
        .collect();
    if let (Some((_, a, b)), Some((_, c, d))) = (pair(SIZES[0].0, SIZES[0].1), pair(SIZES[1].0, SIZES[1].1)) {
        rows.insert(2, row("both, level 6", SIZES[0].1, (a + c, b + d), 100.0));
    }
    rows
}

/// The times with one line for each task, for the readme of abz.
pub fn in_short(rows: &[Row]) -> String {
    let mut text = String::from("| task | abz | it takes, of the time of | target |\n|---|--:|---|---|\n");
    for task in rows.chunk_by(|a, b| a.group == b.group).filter(|task| task[0].unit == Unit::Milliseconds) {
        let share = |row: &&Row| {
            let peer = row.what.strip_prefix("of ").unwrap_or(&row.what);
            Some(format!("{:.0} % {peer}", row.median()?))
        };
        let target = |row: &Row| {
            let Target::AtMost(most) = row.target else { return None };
            let most = match row.what.strip_prefix("of ") {
                Some(peer) => format!("{most} % {peer}"),
                None => row.unit.show(most),
            };
            Some(format!("{most}: {}", row.verdict()))
        };
        let own = task[0].median().map_or_else(|| "-".into(), |millis| format!("{:.3} s", millis / 1e3));
        let shares: Vec<String> = task[1..].iter().filter_map(|row| share(&row)).collect();
        let targets: Vec<String> = task.iter().filter_map(target).collect();
        text += &format!("| {} | {own} | {} | {} |\n", task[0].group, shares.join(", "), targets.join("; "));
    }
    text
}

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap_or("")).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0, 999, 1_000, 28_361_039].map(grouped), ["0", "999", "1,000", "28,361,039"]);
    }

    #[test]
    fn a_task_becomes_rows() {
        let text = r#"{"versions": {"abz": "abz 0.1.0", "pigz": null}, "memory": [{"title": "zeros", "mib": 40.0}],
            "tasks": [{"title": "compress text, level 6", "kept": 2, "dropped": 1, "busy": false, "contenders": [
            {"name": "abz", "walls": [0.5, 0.5], "of_abz": [0.5, 0.5], "cpu": 1.0, "bytes": 7},
            {"name": "pigz -p2", "walls": [1.0, 2.0], "of_abz": [0.5, 0.5], "cpu": 2.0, "bytes": 8},
            {"name": "gzip", "failed": "exit 1"}, {"name": "crabz -p2", "failed": null}]},
            {"title": "1 MiB in the middle of 1 GiB", "kept": 1, "dropped": 0, "busy": false, "contenders": [
            {"name": "abz", "walls": [0.002], "of_abz": [0.002], "cpu": 0.002, "bytes": 9}]}]}"#;
        let Measured { rows, notes } = judge(&serde_json::from_str(text).unwrap(), false);
        assert_eq!(notes, ["abz 0.1.0; pigz is not installed"]);
        assert_eq!(rows[1].median(), Some(37.5));
        let verdicts: Vec<String> = rows.iter().map(Row::verdict).collect();
        assert!(
            in_short(&rows).contains("| 0.500 s | 38 % pigz -p2 | 44 % pigz -p2: open"),
            "{}",
            in_short(&rows)
        );
        assert_eq!(
            verdicts,
            ["", "open (median: met)", "not measurable", "not installed", "met", "met", "not met"]
        );
        assert!(in_short(&rows).contains("| 0.002 s |  | 3.0 ms: met |"), "{}", in_short(&rows));
    }
}
