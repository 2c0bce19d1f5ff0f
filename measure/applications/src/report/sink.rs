//! Throughput and memory behind a sink that is the bottleneck.

use measure_harness::statistics::Summary;

use crate::pictures::{bar, bytes, escaped, interval, number, table};
use crate::results::{Cell, Results};
use crate::systems::{SEQUENTIAL, Side, side};

/// The section, if the application `sink` was measured.
pub fn slow_sink(results: &Results) -> String {
    let mut section = String::new();
    for group in results.groups.iter().filter(|group| group.application == "sink") {
        let Some(plain) = group.cells.iter().find(|cell| cell.variant == SEQUENTIAL) else { continue };
        let most = group.cells.iter().filter_map(|cell| cell.figures.memory).fold(1.0, f64::max);
        let mut cells: Vec<(&Cell, Summary)> =
            group.cells.iter().map(|cell| (cell, cell.figures.against(&plain.figures))).collect();
        let memory = |cell: &Cell| cell.figures.memory.unwrap_or(f64::INFINITY);
        cells.sort_by(|a, b| memory(a.0).total_cmp(&memory(b.0)));
        let row = |(cell, times): &(&Cell, Summary)| {
            let name = escaped(&cell.variant);
            let is_own = side(&cell.variant) == Side::Anabranch;
            vec![
                if is_own { format!("<span class=\"own\">{name}</span>") } else { name },
                cell.figures.memory.map_or("?".into(), |size| bytes(size) + &bar(size / most, None)),
                number(group.amount / cell.figures.time().median),
                interval(*times),
            ]
        };
        let head = ["variant", "memory, the least first", "buffers a second", "times as fast as the loop"];
        section += &table(
            &format!("A slow sink: {}, {} buffers of 64 KiB", group.name(), number(group.amount)),
            &head,
            &cells.iter().map(row).collect::<Vec<_>>(),
        );
    }
    if section.is_empty() {
        return section;
    }
    format!(
        "<h2>A slow sink</h2>\n<p>The sink takes longer for a buffer than the parallel stage, so it bounds the throughput, and what \
         the stage makes too early only takes memory. The loop needs one buffer.</p>\n{section}"
    )
}
