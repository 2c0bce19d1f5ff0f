//! The report: one page without scripts, fonts or pictures from elsewhere.
//!
//! Numbers are in tables, and bars in their cells, so a screen reader reads them in order. A chart has its numbers below it.

mod cases;
mod contract;
mod first;
mod published;
mod services;
mod sink;
mod summary;

use std::fmt::Write;

use measure_programs::APPLICATIONS;

use crate::pictures::{date, escaped};
use crate::results::{Group, LEAST_ROUNDS, Results};

pub use summary::{dots, markdown};

const STYLE: &str = include_str!("report.css");

/// The page.
pub fn page(results: &Results) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Anabranch and its rivals</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>Anabranch and its rivals</h1>\n"
    );
    first::first_screen(&mut page, results);
    contract::contract(&mut page, &results.contract);
    contract::latencies(&mut page, &results.latency);
    cases::heat_map(&mut page, results);
    page += &sink::slow_sink(results);
    studies(&mut page, results, false);
    page += &published::table(results);
    if !results.groups.is_empty() || !results.services.is_empty() {
        page += "<h2>Each application</h2>\n\
        <p>A bar shows how many times as fast a variant is as the best rival, in the same rounds. The numbers in \
        brackets are the 95 % interval. Lines are those that are added to the sequential program. The stages are those of the \
        plain loop: how long each takes for an item, and how large its results are. What it takes to read the clock, about \
        30 ns, is subtracted, so times below 100 ns are mostly noise.</p>\n";
    }
    for about in APPLICATIONS {
        let of_application = |name: &str| name == about.name;
        let groups: Vec<&Group> =
            results.groups.iter().filter(|group| of_application(&group.application)).collect();
        let services: Vec<_> =
            results.services.iter().filter(|service| of_application(&service.application)).collect();
        if groups.is_empty() && services.is_empty() {
            continue;
        }
        let _ = write!(
            page,
            "<section>\n<h3>{}</h3>\n<p>It {}. An item is {}.</p>\n",
            escaped(about.name),
            escaped(about.what),
            escaped(about.item)
        );
        groups.iter().for_each(|group| cases::case(&mut page, group));
        services.iter().for_each(|service| page += &services::stages(service));
        page += "</section>\n";
    }
    studies(&mut page, results, true);
    foot(&mut page, results);
    page += "</main>\n</body>\n</html>\n";
    page
}

/// The measures, or the experiments of the papers on FastFlow and SPar.
fn studies(page: &mut String, results: &Results, experiments: bool) {
    let made = results.studies.iter().filter_map(|studied| Some((studied.study()?, studied)));
    let made: Vec<_> = made.filter(|(study, _)| study.is_experiment == experiments).collect();
    if made.is_empty() {
        return;
    }
    *page += if experiments { "<h2>The experiments of the papers</h2>\n" } else { "<h2>Measures</h2>\n" };
    for (study, studied) in made {
        let rounds = studied.trials.iter().map(|trial| trial.figures.seconds.len()).min().unwrap_or(0);
        let few = if rounds < LEAST_ROUNDS {
            ", which are few: the brackets have the lowest and the highest"
        } else {
            ""
        };
        let _ = write!(
            page,
            "<section class=\"study\" id=\"{}\">\n<h3>{}</h3>\n<p>{}</p>\n{}<p class=\"note\">{rounds} rounds{few}.</p>\n",
            study.name,
            escaped(study.title),
            escaped(study.what),
            (study.draw)(studied),
        );
        for (what, why) in &studied.without {
            let _ = writeln!(page, "<p class=\"note\">{}: {}.</p>", escaped(what), escaped(why));
        }
        *page += "</section>\n";
    }
}

fn foot(page: &mut String, results: &Results) {
    let [machine, versions] = results.machine.lines();
    let _ = write!(
        page,
        "<h2>What this is</h2>\n<ul>\n<li>{}</li>\n<li>{}</li>\n<li>The command: <code>suite {}</code>, {}</li>\n<li>The data: {}. Each case says what it had.</li>\n\
         <li>Each variant is a process of its own. In a round each of them runs once, one after another, and each \
         round begins with another. The first runs warm up and check the output against the sequential program.</li>\n\
         <li>A tie is a difference of less than 5 %. A larger one is open if its interval contains 1.</li>\n\
         <li>rayon and orx collect all results before the first one is written. The others give results as they \
         come.</li>\n\
         <li>Memory is the peak of the process without the data. Cores used is processor time divided by time.</li>\n\
         <li>A mark <abbr title=\"few rounds\">*</abbr> means fewer than {LEAST_ROUNDS} rounds.</li>\n\
         <li><code>measure/applications/FAIRNESS.md</code> says what was chosen for each rival, and why.</li>\n</ul>\n",
        escaped(&machine),
        escaped(&versions),
        escaped(&results.command),
        date(results.time),
        escaped(&results.data),
    );
    if let Some(why) = &results.no_energy {
        let _ = writeln!(page, "<p class=\"note\">The energy is not measurable here: {}.</p>", escaped(why));
    }
    for (variant, why) in &results.absent {
        let _ = writeln!(page, "<p class=\"note\">{} is absent: {}.</p>", escaped(variant), escaped(why));
    }
}
