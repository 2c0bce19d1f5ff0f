//! The suite of `abz`: whole processes on real files, next to the peers that are installed.
//!
//! `measure/abz/rival.py` has the tasks. It runs and verifies the programs.

use std::cell::RefCell;
use std::path::Path;
use std::process::{Command, id};
use std::time::Duration;

use serde::Deserialize;

use crate::corpus::corpus;
use crate::look::{Look, Measured};
use crate::scaling::{self, SCALING, Scale};
use measure_harness::builds;
use measure_harness::rival::{Answer, Rival};
use measure_harness::rounds::{Budget, Contender, Rounds, Unmeasured, measure as play};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

/// The most time that abz may take: a part of a task's title, the peer, and the target in percent of the peer's time. If
/// the peer is abz itself, the target is in milliseconds.
const TARGETS: [(&str, &str, f64); 38] = [
    ("compress text, level 6", "pigz -p2", 44.0),
    ("compress source, level 6", "pigz -p2", 44.0),
    ("compress text, level 6", "crabz -p2", 78.0),
    ("compress source, level 6", "crabz -p2", 78.0),
    ("compress text, level 1", "igzip -1", 100.0),
    ("compress source, level 1", "igzip -1", 100.0),
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
    ("6,000 small files", "xargs -P2 -n64 gzip", 70.0),
    ("compress text, bzip2", "lbzip2 -n2", 80.0),
    ("compress source, bzip2", "lbzip2 -n2", 80.0),
    ("decompress text that bzip2", "lbzip2 -n2", 85.0),
    ("decompress source that bzip2", "lbzip2 -n2", 85.0),
    ("compress 64 MiB of text, lzip", "plzip -n2", 90.0),
    ("compress 64 MiB of source, lzip", "plzip -n2", 95.0),
    ("lzip -6 in blocks of 4 MiB", "plzip -n2 -B4MiB", 95.0),
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
    ("1 MiB in the middle of 1 GiB", "abz", 5.0),
];
/// How many bytes abz may write at most, in percent of a peer: a part of a task's title, the peer, and the
/// target.
const SIZES: [(&str, &str, f64); 16] = [
    ("compress text, level 6", "pigz -p2", 100.3),
    ("compress source, level 6", "pigz -p2", 100.3),
    ("compress text, level 1", "igzip -1", 100.0),
    ("compress source, level 1", "igzip -1", 100.0),
    ("compress text, bzip2", "bzip2", 100.1),
    ("compress source, bzip2", "bzip2", 100.1),
    ("of text, lzip", "plzip -n2", 100.0),
    ("of source, lzip", "plzip -n2", 100.0),
    ("of text, lzip -6 in blocks of 4 MiB", "plzip -n2 -B4MiB", 100.0),
    ("of source, lzip -6 in blocks of 4 MiB", "plzip -n2 -B4MiB", 100.0),
    ("of text, xz", "xz -T2", 100.0),
    ("of source, xz", "xz -T2", 100.0),
    ("compress text, zstd -3", "zstd -T2", 101.0),
    ("compress source, zstd -3", "zstd -T2", 101.0),
    ("of text, zstd -19", "zstd -T2", 101.0),
    ("of source, zstd -19", "zstd -T2", 101.0),
];
/// The most memory in MiB, by a part of the title. What decodes xz and lzip holds three dictionaries for each worker, and
/// 32 MiB. What encodes them holds an encoder for each, and the blocks: one for each worker, and one that waits. What inflates
/// files of gzip holds 6 MiB for each, and 8.
const MEMORY: [(&str, f64); 9] = [
    ("bzip2", 60.0),
    ("decompress text, xz -6", 3.0 * 8.0 * 2.0 + 32.0),
    ("decompress text, lzip -6", 3.0 * 8.0 * 2.0 + 32.0),
    ("xz -6", 2.0 * LZMA_ENCODER + 3.0 * 24.0),
    ("lzip -6", 2.0 * LZMA_ENCODER + 3.0 * 16.0),
    ("gzip -6 compressed, -p1", 8.0 + 6.0),
    ("gzip -6 compressed, -p2", 8.0 + 6.0 * 2.0),
    ("gzip -6 compressed, -p4", 8.0 + 6.0 * 4.0),
    ("", 32.0),
];
/// The memory in MiB of an encoder of LZMA with a dictionary of 8 MiB: a window of one and a half dictionaries, two entries of a
/// tree for each byte of it, 4 Mi hashes, and 3 MiB (`crates/abz-codec/src/lzma.rs`).
const LZMA_ENCODER: f64 = 8.0 * 9.5 + 16.0 + 3.0;
const BYTES_GROUP: &str = "bytes out, of a peer's";
const MEMORY_GROUP: &str = "memory: the most that abz held, with `-p2` where nothing is said";

/// A task is over after this time, once it has its least number of rounds.
const TASK: Duration = Duration::from_secs(45);
/// A task that compares two numbers of threads is over after this time, once it has its least number of rounds.
const PAIR: Duration = Duration::from_secs(10);
/// The inputs of a task may be made by the slowest of the peers.
const PATIENCE: Duration = Duration::from_secs(900);
/// Peers that take this many times as long as abz run in fewer rounds.
const SLOW: f64 = 5.0;

/// An offer of the rival: contenders, or a number that it has measured.
#[derive(Debug, Deserialize)]
struct Task {
    title: String,
    #[serde(default)]
    contenders: Vec<Peer>,
    /// The most memory that abz held.
    mib: Option<f64>,
    /// The times and page faults of abz with one thread and with two. The contenders are abz with two threads and with one.
    scale: Option<Scale>,
}

#[derive(Debug, Deserialize)]
struct Peer {
    name: String,
    installed: bool,
}

/// A peer, and its first run, or why there is none.
type Checked = (Peer, Result<Answer, Unmeasured>);

/// The bytes that each contender of a task wrote.
type Sizes = (String, Vec<(String, u64)>);

/// The names for `--only`. The rival accepts any part of a task's title.
pub fn names() -> Vec<String> {
    [
        "compress text",
        "compress source",
        "compress media",
        "decompress text",
        "decompress source",
        "1,000 files",
        "6,000 small files",
        "1 MiB in the middle of 1 GiB",
        "in blocks of 4 MiB",
        "that bzip2 -9 compressed",
        SCALING,
        "scaling gzip",
        "scaling bzip2",
        "scaling lzip",
        "scaling xz",
        "scaling zstd",
        "memory",
        "that gzip -6 compressed, -p",
    ]
    .map(String::from)
    .to_vec()
}

/// Builds abz, compares it with its peers, and judges.
pub fn measure(look: &Look) -> Measured {
    let work = format!("/dev/shm/abz-measured-{}", id());
    let measured = std::fs::create_dir_all(&work).map_err(|error| format!("{work}: {error}"));
    let measured = measured
        .and_then(|()| start(look, Path::new(&work)))
        .and_then(|rival| compare(rival, look.quick, |task| look.say(task)));
    // It holds a copy of everything, in memory.
    let _ = std::fs::remove_dir_all(&work);
    measured.unwrap_or_else(|why| Measured::impossible("abz", why))
}

fn start(look: &Look, work: &Path) -> Result<Rival, String> {
    let abz = builds::anabranch(&["abz"])?.join("abz");
    let mut rival = Command::new(builds::source("abz/rival.py"));
    rival.arg("--corpus").arg(corpus(look)?).arg("--abz").arg(abz).arg("--work").arg(work);
    if look.quick {
        rival.arg("--quick");
    }
    if let Some(only) = &look.only {
        rival.arg("--only").arg(only);
    }
    Rival::start(rival)
}

/// Measures each task that the rival offers.
fn compare(mut rival: Rival, quick: bool, say: impl Fn(&str)) -> Result<Measured, String> {
    let version = |(name, version): (&String, &String)| {
        if version.contains(name.as_str()) { version.clone() } else { format!("{name} {version}") }
    };
    let notes = vec![rival.versions.iter().map(version).collect::<Vec<_>>().join("; ")];
    let (mut rows, mut sizes, mut memory, mut scaled) = (Vec::new(), Vec::new(), Vec::new(), scaling::head());
    loop {
        let told = rival.ask_line("next", PATIENCE)?;
        let task: Option<Task> = serde_json::from_str(&told).map_err(|error| format!("{told}: {error}"))?;
        let Some(Task { title, contenders, mib, scale }) = task else { break };
        say(&title);
        if let Some(mib) = mib {
            let target = MEMORY.iter().find(|(part, _)| title.contains(part));
            let target = target.map_or(Target::None, |&(_, most)| Target::AtMost(most));
            memory.push(Row::single(MEMORY_GROUP, title, (target, Unit::Mebibytes), mib, ""));
            continue;
        }
        if let Some(mut scale) = scale {
            let its = scale.rows(&title, &rounds_of_two(&mut rival, scale.round()));
            scaled += &scale.line(&title, &its);
            rows.extend(its);
            continue;
        }
        let check = |(at, peer): (usize, Peer)| {
            let answer = match peer.installed {
                true => rival.ask(&format!("check {at}"), PATIENCE).map_err(Unmeasured::Impossible),
                false => Err(Unmeasured::NotInstalled(String::new())),
            };
            (peer, answer)
        };
        let checked: Vec<Checked> = contenders.into_iter().enumerate().map(check).collect();
        rows.extend(rows_of(&title, &checked, &mut rival, quick)?);
        let bytes =
            |(peer, answer): &Checked| Some((peer.name.clone(), answer.as_ref().ok()?.more[1] as u64));
        sizes.push((title, checked.iter().filter_map(bytes).collect()));
    }
    if !quick {
        rows.extend(bytes(&sizes));
    }
    rows.extend(memory);
    let is_scaled = scaled.lines().count() > 2;
    let tables = if is_scaled { vec![(SCALING, scaled)] } else { Vec::new() };
    Ok(Measured { rows, notes, tables })
}

/// Measures the two contenders of a task in the same rounds, without checks. A round takes about this many seconds.
fn rounds_of_two(rival: &mut Rival, round: f64) -> Result<Rounds, Unmeasured> {
    let rival = RefCell::new(rival);
    let contender = |at: usize| {
        let rival = &rival;
        Contender::sampled(at.to_string(), Digest::of_number(0), move || {
            let answer = rival.borrow_mut().ask(&format!("run {at}"), PATIENCE);
            answer.map_or((f64::NAN, Digest::EMPTY), |answer| (answer.seconds, Digest::of_number(0)))
        })
    };
    let time = PAIR.max(Duration::from_secs_f64(4.5 * round));
    play(Budget { wanted: 7, least: 3, time }, None, [0, 1].map(contender).into())
}

/// The rows of a task: abz itself, which is the first contender, and its time in percent of each peer's.
///
/// # Errors
/// If abz failed.
fn rows_of(title: &str, checked: &[Checked], rival: &mut Rival, quick: bool) -> Result<Vec<Row>, String> {
    let seconds = |at: &usize| checked[*at].1.as_ref().ok().map(|answer| answer.seconds);
    let of_abz = match &checked[0].1 {
        Ok(answer) => answer.seconds,
        Err(why) => return Err(format!("abz: {why}")),
    };
    let (quick_ones, slow): (Vec<usize>, Vec<usize>) = (1..checked.len())
        .filter(|at| seconds(at).is_some())
        .partition(|at| seconds(at).is_some_and(|it| it < SLOW * of_abz));
    let rival = RefCell::new(rival);
    let rounds_of = |peers: &[usize], wanted: usize| {
        let all = [&[0], peers].concat();
        let round: f64 = all.iter().filter_map(seconds).sum();
        // The first round warms up, and rounds differ.
        let time = TASK.max(Duration::from_secs_f64(6.0 * round));
        let contender = |at: &usize| {
            let (request, rival) = (format!("run {at}"), &rival);
            Contender::sampled(&checked[*at].0.name, Digest::of_number(0), move || {
                let answer = rival.borrow_mut().ask(&request, PATIENCE);
                answer.map_or((f64::NAN, Digest::EMPTY), |answer| (answer.seconds, Digest::of_number(0)))
            })
        };
        play(Budget { wanted, least: 3, time }, None, all.iter().map(contender).collect())
    };
    let near = rounds_of(&quick_ones, if quick { 3 } else { 7 });
    let far = (!slow.is_empty()).then(|| rounds_of(&slow, 3));
    let row = |(at, (peer, answer)): (usize, &Checked)| {
        let name = peer.name.as_str();
        let target = TARGETS.iter().find(|target| title.contains(target.0) && name == target.1);
        let target = target.map_or(Target::None, |target| Target::AtMost(target.2));
        let (what, unit) =
            if at == 0 { (name.into(), Unit::Milliseconds) } else { (format!("of {name}"), Unit::Percent) };
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => return Row::without(title, what, (target, unit), why.clone()),
        };
        let place = |group: &[usize]| group.iter().position(|peer| *peer == at).map(|place| 1 + place);
        let (rounds, place) = match (&far, place(&slow)) {
            (Some(rounds), Some(place)) => (rounds, place),
            _ => (&near, place(&quick_ones).unwrap_or(0)),
        };
        Row::new(title, what, (target, unit), rounds, |rounds: &Rounds| {
            let millis = rounds.summary(|round| 1e3 * round.samples[place]);
            let share = rounds.summary(|round| 100.0 * round.samples[0] / round.samples[place]);
            let wall =
                if at == 0 { String::new() } else { format!("{}, ", Unit::Milliseconds.show(millis.median)) };
            let (cpu, bytes) = (1e3 * answer.more[0], grouped(answer.more[1] as u64));
            (
                if at == 0 { millis } else { share },
                format!("{wall}{cpu:.0} ms of processors, {bytes} bytes out"),
            )
        })
    };
    Ok(checked.iter().enumerate().map(row).collect())
}

/// The rows about how many bytes abz writes in percent of its peers, and at level 6 of gzip for both texts
/// together.
fn bytes(tasks: &[Sizes]) -> Vec<Row> {
    let pair = |part: &str, peer: &str| {
        let (title, sizes) = tasks.iter().find(|(title, _)| title.contains(part))?;
        let of = |name: &str| sizes.iter().find(|(peer, _)| peer == name).map(|(_, bytes)| *bytes);
        Some((title.as_str(), of("abz")?, of(peer)?))
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

    #[cfg(unix)]
    #[test]
    fn a_task_becomes_rows() {
        // abz takes half of a second, its peers one and ten.
        let script = r#"echo 'abz abz 0.1.0'; echo 'pigz 2.8'; echo ready; task=0
            while read word at; do
                case $word$at in
                next) task=$((task + 1)); case $task in
                    1) echo '{"title": "compress text, level 6", "contenders": [{"name": "abz", "installed": true},
                        {"name": "pigz -p2", "installed": true}, {"name": "gzip", "installed": true},
                        {"name": "crabz -p2", "installed": false}, {"name": "igzip", "installed": true}]}' | tr -d '\n'; echo;;
                    2) echo '{"title": "1 MiB in the middle of 1 GiB", "contenders": [{"name": "abz", "installed": true}]}';;
                    3) echo '{"title": "zeros", "mib": 40.0}';;
                    *) echo null;;
                    esac;;
                *4) echo failed: exit 1;;
                *) case $task$at in 10) wall=0.5;; 11) wall=1;; 12) wall=10;; *) wall=0.002;; esac
                    echo "$wall 0 2 $((7 + at))";;
                esac
            done"#;
        let mut rival = Command::new("sh");
        rival.args(["-c", script]);
        let Measured { rows, notes, .. } = compare(Rival::start(rival).unwrap(), false, |_| {}).unwrap();
        assert_eq!(notes, ["abz 0.1.0; pigz 2.8"]);
        assert_eq!((rows[1].median(), rows[2].median()), (Some(50.0), Some(5.0)));
        let verdicts: Vec<String> = rows.iter().map(Row::verdict).collect();
        let short = in_short(&rows);
        assert!(short.contains("| 0.500 s | 50 % pigz -p2, 5 % gzip | 44 % pigz -p2: not met"), "{short}");
        assert_eq!(
            verdicts,
            ["", "not met", "", "not installed", "not measurable", "met", "met", "not met"],
            "{rows:?}"
        );
        assert!(short.contains("| 0.002 s |  | 5.0 ms: met |"), "{short}");
    }
}
