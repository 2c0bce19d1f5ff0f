//! The throughput of several workers, predicted from the report of one worker.

use anabranch::plan::Machine;
use anabranch::{Report, ReportSlot, Source, Stream};
use measure_harness::statistics::Summary;
use measure_programs::{Data, Output, Scale, Workload, bzip2, dedup, farm, images, lzip, micro};

use super::{Setup, Trial};
use crate::players::Figures;
use crate::systems::SEQUENTIAL;

/// The cases. Anabranch's builder has a stream with a report for each of them.
pub const CASES: [(&str, &str); 6] = [
    ("micro", "5000"),
    ("images", "mixed"),
    ("bzip2", "text"),
    ("lzip", "text"),
    ("dedup", "half-repeated"),
    ("farm", "1us"),
];

/// The name of the line that is computed.
pub const PREDICTED: &str = "predicted by Anabranch";

/// 1, 2, 3, 4, then twice as many each time, and all.
pub fn numbers(cores: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = [1, 2, 3, 4].into_iter().chain((3..16).map(|power| 1 << power)).collect();
    numbers.retain(|&workers| workers < cores);
    numbers.push(cores);
    numbers
}

/// The name of the panel of a case.
pub fn panel(application: &str, workload: &str) -> String {
    format!("{application} {workload}")
}

/// How many reports there are for a prediction. The costs of a plan are means, so they do not vary much.
const REPORTS: usize = 3;

/// The predictions for all cases. The time of a round is that of the plain loop, divided by the predicted speed-up.
pub fn predicted(setup: &Setup, trials: &[Trial]) -> Vec<Trial> {
    if !setup.has("builder") {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (application, workload) in CASES {
        let panel = panel(application, workload);
        let is_plain = |trial: &&Trial| trial.panel == panel && trial.series == SEQUENTIAL;
        let Some(plain) = trials.iter().find(is_plain) else { continue };
        let reports: Option<Vec<Report>> =
            (0..REPORTS).map(|_| report(application, workload, setup.scale, setup.data)).collect();
        let Some(reports) = reports else { continue };
        for workers in numbers(setup.cores) {
            // Relative to the loop, because the machine may have been slower or faster when the reports were made.
            let speed_up = |report: &Report| {
                let prediction = report.measured_plan().predict_on(&Machine::new(setup.cores), workers);
                Some(prediction.ok()?.speedup)
            };
            let Some(speed_ups) = reports.iter().map(speed_up).collect::<Option<Vec<f64>>>() else {
                continue;
            };
            let speed_up = Summary::of(speed_ups).median;
            let seconds = plain.figures.seconds.iter().map(|seconds| seconds / speed_up).collect();
            let figures = Figures { seconds, ..Figures::default() };
            all.push(Trial {
                panel: panel.clone(),
                series: PREDICTED.into(),
                at: workers.to_string(),
                workers,
                amount: plain.amount,
                figures,
            });
        }
    }
    all
}

/// Runs the stream of the variant `builder` with one worker and a report.
fn report(application: &str, workload: &str, scale: Scale, data: Option<&Data>) -> Option<Report> {
    let mut output = Output::begin();
    let slot = ReportSlot::new();
    match application {
        "micro" => {
            let input = micro::Input::prepare(workload, scale, data).ok()??;
            Stream::from_iter(0..input.rows)
                .workers(1)
                .map(|row| micro::fractal_a(&input, row))
                .map(|line| micro::fractal_b(&input, line))
                .report_to(&slot)
                .for_each(|line| output.write(&line.points))
        }
        "images" => {
            let input = images::Input::prepare(workload, scale, data).ok()??;
            Stream::from_iter(input.images())
                .workers(1)
                .map(images::saturation)
                .map(images::emboss)
                .map(images::gamma)
                .map(images::sharpen)
                .map(images::grayscale)
                .report_to(&slot)
                .for_each(|image| output.write(image.bytes()))
        }
        "bzip2" => {
            let input = bzip2::Input::prepare(workload, scale, data).ok()??;
            Stream::from_iter(input.blocks())
                .workers(1)
                .map(|block| bzip2::compress(&input, block))
                .report_to(&slot)
                .for_each(|stream| output.write(&stream))
        }
        "lzip" => {
            let input = lzip::Input::prepare(workload, scale, data).ok()??;
            Stream::from_iter(input.blocks())
                .workers(1)
                .map(lzip::compress)
                .report_to(&slot)
                .for_each(|member| output.write(&member))
        }
        "dedup" => {
            let input = dedup::Input::prepare(workload, scale, data).ok()??;
            let mut index = dedup::Index::default();
            Stream::from_iter(input.chunks())
                .workers(1)
                .map(dedup::hash)
                .serial_map(|hashed| index.look_up(hashed))
                .map(dedup::pack)
                .report_to(&slot)
                .for_each(|entry| output.write(&entry))
        }
        "farm" => {
            let input = farm::Input::prepare(workload, scale, data).ok()??;
            Source::new(input.tasks())
                .in_blocks()
                .into_stream()
                .workers(1)
                .map(farm::compute)
                .report_to(&slot)
                .for_each(|result| output.write(&result.to_le_bytes()))
        }
        _ => return None,
    }
    slot.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_of_scaling_can_be_predicted() {
        for (application, workload) in CASES {
            let report = report(application, workload, Scale::Tiny, None).expect(application);
            let prediction = report.measured_plan().predict_on(&Machine::new(2), 2).unwrap();
            assert!(prediction.per_item > 0.0, "{application}");
        }
    }

    #[test]
    fn the_last_number_is_all_cores() {
        assert_eq!(numbers(1), [1]);
        assert_eq!(numbers(2), [1, 2]);
        assert_eq!(numbers(6), [1, 2, 3, 4, 6]);
        assert_eq!(numbers(20), [1, 2, 3, 4, 8, 16, 20]);
    }
}
