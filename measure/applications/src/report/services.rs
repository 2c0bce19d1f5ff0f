//! The stages of a workload, as the plain loop has run them.

use crate::pictures::{bytes, escaped, histogram, number, seconds, spark, table};
use crate::services::{Quantiles, Service, StageService, bin_begin};

/// A table with a row for each stage: how its times are distributed, and how they change over the stream.
pub fn stages(service: &Service) -> String {
    // All stages of a workload have the same axis.
    let used = |bin: &usize| service.stages.iter().any(|stage| stage.bins[*bin] > 0);
    let bins = service.stages.first().map_or(0, |stage| stage.bins.len());
    let (first, last) = ((0..bins).find(used).unwrap_or(0), (0..bins).rev().find(used).unwrap_or(0));
    let axis = format!("{} to {}", seconds(bin_begin(first)), seconds(bin_begin(last + 1)));
    let row = |stage: &StageService| {
        let Quantiles { least, p5, median, p95, most } = stage.seconds;
        let label = format!(
            "{}: from {} to {}, half up to {}",
            stage.name,
            seconds(least),
            seconds(most),
            seconds(median)
        );
        let size = match stage.bytes {
            Quantiles { most: 0.0, .. } => "-".into(),
            Quantiles { least, most, .. } if least == most => bytes(most),
            Quantiles { least, median, most, .. } => {
                format!("{} <small>[{}, {}]</small>", bytes(median), bytes(least), bytes(most))
            }
        };
        vec![
            format!("{} <small>{} items</small>", escaped(&stage.name), number(stage.items as f64)),
            format!("{:.1} %", 100.0 * stage.share),
            format!(
                "{} <small>[{}, {}]; at most {}</small>",
                seconds(median),
                seconds(p5),
                seconds(p95),
                seconds(most)
            ),
            histogram(&label, &stage.bins[first..=last]),
            spark(&format!("{}: the mean time over the stream", stage.name), &stage.over_stream),
            size,
        ]
    };
    let head = [
        "stage",
        "share of the time",
        "an item: median [5 %, 95 %]",
        &format!("times, {axis}, logarithmic"),
        "over the stream, from 0",
        "size of a result: median [least, most]",
    ];
    let Service { application, workload, data, .. } = service;
    let caption = format!("{application} {workload}: the stages of the plain loop; data: {data}");
    let rows: Vec<Vec<String>> = service.stages.iter().map(row).collect();
    table(&caption, &head, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_a_row_with_two_pictures() {
        let quantiles = Quantiles { least: 1e-6, p5: 1e-6, median: 2e-6, p95: 3e-6, most: 1e-3 };
        let mut bins = vec![0; 50];
        (bins[10], bins[25]) = (99, 1);
        let stage = StageService {
            name: "a <b>".into(),
            items: 100,
            share: 0.5,
            seconds: quantiles,
            bytes: Quantiles { least: 1.0, p5: 1.0, median: 2048.0, p95: 3000.0, most: 4096.0 },
            bins,
            over_stream: vec![1e-6, 2e-6],
        };
        let service = Service {
            application: "x".into(),
            workload: "y".into(),
            data: "z".into(),
            clock: 3e-8,
            stages: vec![stage],
        };
        let page = stages(&service);
        assert!(
            page.contains("data: z")
                && page.contains("a &lt;b&gt; <small>100 items")
                && page.contains("50.0 %"),
            "{page}"
        );
        assert!(
            page.contains("2.00 KiB <small>[1 B, 4.00 KiB]") && page.contains("at most 1.00 ms"),
            "{page}"
        );
        assert_eq!(page.matches("<svg").count(), 2);
    }
}
