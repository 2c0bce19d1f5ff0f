//! The figures that the papers print, and ours where the application is the same.

use measure_harness::statistics::Summary;

use crate::pictures::{escaped, interval, table as html};
use crate::results::{Cell, Group, Results};
use crate::standing::best_own;
use crate::systems::SEQUENTIAL;

/// What of ours is compared with a published figure.
#[derive(Debug, Clone, Copy)]
enum Ours {
    /// The speed-up over the loop of the best variant of Anabranch, for each core.
    SpeedUp(&'static str, &'static str),
    /// How many times as fast the best variant of Anabranch is as a rival.
    Times(&'static str, &'static str, &'static str),
}

/// A figure of a paper.
#[derive(Debug)]
struct Figure {
    /// The paper, and the place in it.
    place: &'static str,
    /// What was measured, and on which machine.
    what: &'static str,
    theirs: &'static str,
    /// Their speed-up, and their number of cores.
    speed_up: Option<(f64, f64)>,
    ours: Ours,
    differs: &'static str,
}

const SPAR_DIFFERS: &str = "theirs is an ISO file of 704 MB on 12 cores (2 Xeon E5-2620 v3), uses two hardware threads of each core, reads and writes files, and is C++ on FastFlow; ours \
    is a generated or real disc image of 4 or 9 MB in memory";
const DEFLATE_DIFFERS: &str = "theirs is random data with up to 40 threads, bound by a network file system, and is for each \
    thread, because the number of cores is not printed; ours compresses noise in memory";
const MANY_CORES: &str = "FastFlow on 54 cores of a TilePro64";

const FIGURES: [Figure; 16] = [
    spar("SPar, table 1 (a)", "lzip, compression", "9.85 times with 22 threads", 9.85, ("lzip", "iso")),
    spar("SPar, table 1 (b)", "lzip, decompression", "11.94 times with 22 threads", 11.94, ("lunzip", "iso")),
    spar("SPar, table 1 (c)", "bzip2, compression", "9.80 times with 23 threads", 9.80, ("bzip2", "iso")),
    spar("SPar, table 1 (d)", "bzip2, decompression", "9.76 times with 23 threads", 9.76, ("bunzip2", "iso")),
    deflate("3 large files, memory-mapped output", "about 13 times", 13.0),
    deflate("many small files, memory-mapped output", "about 15 times", 15.0),
    deflate("mixed files, memory-mapped output", "up to 13 times", 13.0),
    deflate("3 large files, sequential output", "about 6.4 times", 6.4),
    deflate("many small files, sequential output", "about 5.22 times", 5.22),
    deflate("mixed files, sequential output", "just under 7.37 times", 7.37),
    Figure {
        place: "FastFlow on many-cores, figure 8 and section V.B",
        what: MANY_CORES,
        theirs: "128 x 128 matrices: 42 times as fast as one worker, about 37 times as fast as the loop",
        speed_up: Some((37.0, 54.0)),
        ours: Ours::SpeedUp("matmul", "128"),
        differs: "theirs are 3,200 products of whole numbers, on small cores with 64 KB of L2 each; ours are of single precision",
    },
    Figure {
        place: "FastFlow on many-cores, figure 6 (left)",
        what: MANY_CORES,
        theirs: "tasks that compute: good speed-up from 10 ms for a task on, the full one from about 100 ms",
        speed_up: None,
        ours: Ours::SpeedUp("farm", "10us"),
        differs: "ours are tasks of 10 µs, a thousandth of theirs",
    },
    Figure {
        place: "Rust-SSP, section 5.1.1 (figure 11)",
        what: "micro-bench, 500 iterations, 20 cores (2 Xeon Silver 4210)",
        theirs: "Rust-SSP is close to 10 % faster than Tokio",
        speed_up: None,
        ours: Ours::Times("micro", "500", "tokio"),
        differs: "theirs is the mean over 1 to 40 workers; Tokio is version 0.1 and its results are sorted at the end",
    },
    Figure {
        place: "Rust-SSP, section 5.1.2 (figure 12)",
        what: "image processing, 20 cores",
        theirs: "Rust-SSP is up to 2.47 times as fast as standard threads",
        speed_up: None,
        ours: Ours::Times("images", "big", "threads"),
        differs: "their threads wait at channels that spin, and with 5 stages there are more threads than cores; ours deal in turn \
            and block",
    },
    Figure {
        place: "Rust-SSP, section 5.1.3 (figure 13 c, d)",
        what: "bzip2 on disk, 20 cores",
        theirs: "Tokio is up to 41.1 % slower than Rust-SSP, and at best 6 % faster",
        speed_up: None,
        ours: Ours::Times("files", "text", "tokio"),
        differs: "theirs is Tokio 0.1 with its ordered buffer, and files of 557 to 704 MB",
    },
    Figure {
        place: "Rust-SSP, section 5.1.4 (figure 14)",
        what: "eye detector, 20 cores",
        theirs: "Rust-SSP is at most 6.03 % faster than Tokio; a better queue made standard threads up to 52.56 % faster",
        speed_up: None,
        ours: Ours::Times("eyes", "several", "tokio"),
        differs: "theirs reads and writes films of 450 frames and detects with OpenCV; ours takes 30 frames of such a film in memory, and \
            detects with cascades in Rust",
    },
];

const fn spar(
    place: &'static str,
    what: &'static str,
    theirs: &'static str,
    speed_up: f64,
    (application, workload): (&'static str, &'static str),
) -> Figure {
    let ours = Ours::SpeedUp(application, workload);
    Figure { place, what, theirs, speed_up: Some((speed_up, 12.0)), ours, differs: SPAR_DIFFERS }
}

const fn deflate(what: &'static str, theirs: &'static str, speed_up: f64) -> Figure {
    let speed_up = Some((speed_up, 40.0));
    let ours = Ours::SpeedUp("gzip", "noise");
    Figure {
        place: "Parallel DEFLATE, performance analysis",
        what,
        theirs,
        speed_up,
        ours,
        differs: DEFLATE_DIFFERS,
    }
}

fn cell<'a>(group: &'a Group, name: &str) -> Option<&'a Cell> {
    group.cells.iter().find(|cell| cell.variant == name)
}

impl Ours {
    /// Our number as HTML. `None` if the case was not measured.
    fn shown(self, results: &Results) -> Option<String> {
        let most_workers = |application: &str, workload: &str| -> Option<&Group> {
            let is_it = |group: &&Group| group.application == application && group.workload == workload;
            // As many workers as cores, or as many as there are.
            let cores = results.machine.cores;
            results.groups.iter().filter(is_it).min_by_key(|group| group.workers.abs_diff(cores))
        };
        match self {
            Self::SpeedUp(application, workload) => {
                let group = most_workers(application, workload)?;
                let own = best_own(group)?;
                let times = own.figures.against(&cell(group, SEQUENTIAL)?.figures);
                let cores = group.workers.min(results.machine.cores).max(1) as f64;
                let Summary { median, low, high } = times;
                Some(format!(
                    "<b>{:.2}</b> a core <small>[{:.2}, {:.2}]</small>: {median:.2} times with {} workers, {} {}, {}",
                    median / cores,
                    low / cores,
                    high / cores,
                    group.workers,
                    escaped(application),
                    escaped(workload),
                    escaped(&own.variant)
                ))
            }
            Self::Times(application, workload, rival) => {
                let group = most_workers(application, workload)?;
                let own = best_own(group)?;
                let times = own.figures.against(&cell(group, rival)?.figures);
                Some(format!(
                    "{} is {} times as fast as {rival}, {} workers",
                    escaped(&own.variant),
                    interval(times),
                    group.workers
                ))
            }
        }
    }
}

/// The section.
pub fn table(results: &Results) -> String {
    if results.groups.is_empty() {
        return String::new();
    }
    let mut before = "";
    let mut row = |figure: &Figure| {
        let theirs = match figure.speed_up {
            Some((times, cores)) => format!("<b>{:.2}</b> a core: {}", times / cores, escaped(figure.theirs)),
            None => escaped(figure.theirs),
        };
        vec![
            escaped(figure.place),
            escaped(figure.what),
            theirs,
            figure.ours.shown(results).unwrap_or_else(|| "not measured in this run".into()),
            if figure.differs == std::mem::replace(&mut before, figure.differs) {
                "as above".into()
            } else {
                escaped(figure.differs)
            },
        ]
    };
    let rows: Vec<Vec<String>> = FIGURES.iter().map(&mut row).collect();
    let head = ["paper", "what", "theirs", "ours", "what differs"];
    "<h2>The figures that the papers print</h2>\n<p>Where the application is the same, with the speed-up over the plain loop for each \
     core. Machines and data differ, so this says whether a number is of the expected size, and not who is faster. Most of the \
     papers' results are in pictures; only numbers that are printed are here.</p>\n"
        .to_owned()
        + &html("Published figures, and ours", &head, &rows).replacen("<table>", "<table class=\"words\">", 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::players::Figures;

    fn cell(variant: &str, seconds: f64) -> Cell {
        let figures = Figures { seconds: vec![seconds; 7], ..Figures::default() };
        Cell { variant: variant.into(), figures, code: Code::default() }
    }

    #[test]
    fn a_speed_up_is_shown_for_each_core_that_the_workers_can_use() {
        let mut results = Results::new("full", "generated");
        results.machine.cores = 2;
        let group = |workers, own| Group {
            application: "lzip".into(),
            workload: "iso".into(),
            workers,
            amount: 1.0,
            data: "generated".into(),
            unit: "MB".into(),
            cells: vec![cell(SEQUENTIAL, 1.0), cell("builder", own), cell("tokio", 0.5)],
            without: vec![],
        };
        results.groups = vec![group(1, 1.0), group(2, 0.625), group(4, 0.5)];
        let page = table(&results);
        // Theirs is 9.85 times on 12 cores, ours 1.6 times with 2 workers.
        assert!(page.contains("<b>0.82</b> a core: 9.85 times"), "{page}");
        assert!(page.contains("<b>0.80</b> a core") && page.contains("1.60 times with 2 workers"), "{page}");
        assert!(page.contains("not measured in this run"), "{page}");
    }
}
