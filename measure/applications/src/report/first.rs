//! The first screen: three sentences, and a line for each case.

use std::fmt::Write;

use crate::pictures::{CLOSED, escaped, interval, opened};
use crate::results::{Cell, Group, LEAST_ROUNDS, Results};
use crate::standing::{End, Standing};

/// Three sentences, and a table with a line for each case.
pub fn first_screen(page: &mut String, results: &Results) {
    let standings: Vec<(&Group, Standing)> =
        results.groups.iter().filter_map(|group| Some((group, Standing::of(group)?))).collect();
    for sentence in sentences(&standings) {
        let _ = writeln!(page, "<p class=\"lead\">{}</p>", escaped(&sentence));
    }
    if results.scale != "full" {
        *page += "<p class=\"note\">A quick look: the data are small, the rounds are few, and each application has one workload.</p>\n";
    }
    if standings.is_empty() {
        return;
    }
    let head = ["case", "Anabranch", "rival", "times as fast", "result"];
    let of_streams = ["of those that stream", "times as fast", "result"];
    let caption = "The best variant of Anabranch against the best rival";
    *page += &opened("plain", caption, head.into_iter().chain(of_streams));
    for (group, Standing { own, rival, times, end }) in &standings {
        let (class, word) = ended(*end);
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{word}{}</td>",
            escaped(&group.name()),
            escaped(&own.variant),
            escaped(&rival.variant),
            interval(*times),
            few(own),
        );
        match Standing::of_streams(group) {
            Some(Standing { rival, times, end, .. }) => {
                let (class, word) = ended(end);
                let (rival, times) = (escaped(&rival.variant), interval(times));
                let _ =
                    writeln!(page, "<td>{rival}</td><td>{times}</td><td class=\"{class}\">{word}</td></tr>");
            }
            None => *page += "<td>none</td><td></td><td></td></tr>\n",
        }
    }
    *page += CLOSED;
}

/// The class and the word for an end.
fn ended(end: End) -> (&'static str, &'static str) {
    let class = match end {
        End::Win => "win",
        End::Loss => "loss",
        End::Tie | End::Ahead | End::Behind => "",
    };
    (class, word(end))
}

/// The word for an end.
pub fn word(end: End) -> &'static str {
    match end {
        End::Win => "win",
        End::Loss => "loss",
        End::Tie => "tie",
        End::Ahead => "open: ahead",
        End::Behind => "open: behind",
    }
}

pub fn few(cell: &Cell) -> &'static str {
    if cell.figures.seconds.len() < LEAST_ROUNDS { " <abbr title=\"few rounds\">*</abbr>" } else { "" }
}

/// Three sentences: the counts of wins, ties and losses; the largest win; and the losses by name.
pub fn sentences(standings: &[(&Group, Standing)]) -> [String; 3] {
    if standings.is_empty() {
        return [
            "No rival was measured, so nobody wins or loses here.".into(),
            "The tables below compare the variants of Anabranch with the sequential program.".into(),
            "The command suite run without --variants measures the rivals too.".into(),
        ];
    }
    let with = |end: End| -> Vec<&(&Group, Standing)> {
        standings.iter().filter(|(_, standing)| standing.end == end).collect()
    };
    let (wins, losses, behind) = (with(End::Win), with(End::Loss), with(End::Behind));
    let open = behind.len() + with(End::Ahead).len();
    let cases = if standings.len() == 1 { "case" } else { "cases" };
    let one = |(group, standing): &(&Group, Standing)| {
        let (times, rival) = (standing.times.median, &standing.rival.variant);
        format!("{} ({times:.2} times as fast as {rival})", group.name())
    };
    // The largest differences; the table has all.
    let list = |some: &[&(&Group, Standing)]| {
        const FEW: usize = 3;
        let mut some = some.to_vec();
        some.sort_by(|a, b| a.1.times.median.total_cmp(&b.1.times.median));
        let first = some.iter().take(FEW).map(|it| one(it)).collect::<Vec<_>>().join("; ");
        if some.len() > FEW { format!("{first}; and {} more cases", some.len() - FEW) } else { first }
    };
    [
        format!(
            "Of {} {cases}, the best variant of Anabranch wins {} against the best rival, ties {} and loses {}; in \
             {open} the rounds do not tell.",
            standings.len(),
            wins.len(),
            with(End::Tie).len(),
            losses.len()
        ),
        match wins.iter().max_by(|a, b| a.1.times.median.total_cmp(&b.1.times.median)) {
            Some(largest) => format!("Its largest win is {}.", one(largest)),
            None => "It has no win.".into(),
        },
        match (losses.is_empty(), behind.is_empty()) {
            (true, true) => "It has no loss, and is behind nowhere by 5 % or more.".into(),
            (true, false) => {
                format!("It has no loss, but where the rounds do not tell it is behind in {}.", list(&behind))
            }
            (false, true) => format!("It loses {}.", list(&losses)),
            (false, false) => format!(
                "It loses {}; where the rounds do not tell it is behind in {}.",
                list(&losses),
                list(&behind)
            ),
        },
    ]
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::code::Code;
    use crate::players::Figures;
    use crate::systems::SEQUENTIAL;

    fn cell(variant: &str, seconds: f64) -> Cell {
        let seconds = vec![seconds; 7];
        Cell {
            variant: variant.into(),
            figures: Figures { seconds, ..Figures::default() },
            code: Code { lines: 9, tokens: 50, complexity: 2, effort: 100.0 },
        }
    }

    /// A case in which the loop takes 2 s, rayon 1 s and Anabranch this long.
    pub fn group(own: f64) -> Group {
        Group {
            application: "log".into(),
            workload: "lines".into(),
            workers: 2,
            amount: 1e6,
            unit: "lines".into(),
            data: "generated".into(),
            cells: vec![cell(SEQUENTIAL, 2.0), cell("builder", own), cell("rayon", 1.0), cell("tokio", 1.5)],
            without: vec![],
        }
    }

    #[test]
    fn a_loss_is_named_with_its_rival() {
        let (loss, win) = (group(1.25), group(0.5));
        let of = |group| (group, Standing::of(group).unwrap());
        let [counts, largest, losses] = sentences(&[of(&loss), of(&win)]);
        assert!(
            counts
                .ends_with("wins 1 against the best rival, ties 0 and loses 1; in 0 the rounds do not tell.")
        );
        assert_eq!(largest, "Its largest win is log lines, 2 workers (2.00 times as fast as rayon).");
        assert_eq!(losses, "It loses log lines, 2 workers (0.80 times as fast as rayon).");
    }
}
