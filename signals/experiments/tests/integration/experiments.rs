//! The experiments: their tables are complete, and their pictures are there.

use std::path::Path;
use std::process::{Command, Output};

use clap::ValueEnum;
use signals::experiments::{Axes, Effort, Line, Needs, Part, Plot, Report, Rivals, run};

/// Runs the program with these words.
pub fn signals(arguments: &[&str], folder: &Path) -> Output {
    let mut signals = Command::new(env!("CARGO_BIN_EXE_signals"));
    signals.args(arguments).current_dir(folder).output().expect("the program starts")
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A photograph of the tests of the decoder.
pub fn photo() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dsp/tests/integration/data/jpeg/420.jpg");
    std::fs::read(path).expect("the photograph is there")
}

/// A run of these parts without rivals, and how many steps it told.
fn measured(parts: &[Part]) -> (Report, usize) {
    let effort = Effort { rounds: 1, microseconds: 20, is_quick: true };
    let needs = Needs { rivals: &Rivals::absent("a test builds none"), photo: &photo() };
    let mut steps = 0;
    let report = run(effort, parts, &needs, |_| steps += 1).unwrap();
    (report, steps)
}

#[test]
fn every_experiment_has_a_table_and_its_picture() {
    let (report, steps) = measured(Part::value_variants());
    assert!(steps > 70);
    let parts: Vec<Part> = report.parts.iter().map(|(part, _)| *part).collect();
    assert_eq!(parts, Part::value_variants());
    let text: String = report.parts.iter().map(|(_, text)| text.as_str()).collect();
    for name in [
        "beamformer",
        "bitonic",
        "des",
        "filterbank",
        "vocoder",
        "fmradio",
        "fft, 4,096 samples",
        "jpeg",
        "wifi, 54 Mbit/s",
        "4 to 1",
        "18 | 7.5 dB",
        "54 | 25.0 dB",
    ] {
        assert!(text.contains(&format!("| {name} |")), "{name}: {text}");
    }
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    for absent in [
        "| oneTBB `task_group` | absent: a test builds none |",
        "OpenMP is absent: a test builds none.",
        "rayon is absent: a test builds none.",
    ] {
        assert!(text.contains(absent), "{text}");
    }
    let names: Vec<&str> = report.pictures.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        names,
        [
            "bursts-0.svg",
            "bursts-8.svg",
            "bursts-64.svg",
            "rivals-8.svg",
            "rivals-64.svg",
            "fft.svg",
            "fmradio.svg",
            "errors-demodulator.svg",
            "errors-decoder.svg",
            "jpeg.svg",
            "depend-fft.svg",
            "depend-fmradio.svg",
        ]
    );
    for (name, svg) in &report.pictures {
        assert!(text.contains(&format!("({name})")));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }
}

#[test]
fn error_rates_have_a_mark_at_each_power_of_ten() {
    let points = vec![(-2.0, 0.3), (0.0, 2e-4), (2.0, 0.0)];
    let line = |is_dashed| Line { name: "rate".into(), points: points.clone(), is_dashed };
    let lines = vec![line(false), line(true)];
    let svg = Plot { title: "t".into(), axes: Axes::LinearLog, across: "dB", up: "share", lines }.svg();
    for mark in ["1e-4", "1e-3", "1e-2", "1e-1", "1e0", ">-2<", ">0<"] {
        assert!(svg.contains(mark), "{mark}: {svg}");
    }
    // A share of 0 has no place, and theory has no points.
    assert_eq!(svg.matches("<circle").count(), 2);
}

#[test]
fn one_part_has_no_tables_of_the_others() {
    let (report, _) = measured(&[Part::Rivals]);
    let [(Part::Rivals, text)] = &report.parts[..] else { panic!("{:?}", report.parts) };
    assert!(text.contains("## The smallest burst next to") && !text.contains("## Block transforms"));
    assert!(text.contains("experiments --quick --only rivals`"), "{text}");
    assert_eq!(report.pictures.len(), 2);
    let folder = tempfile::tempdir().unwrap();
    let output = signals(&["experiments", "--only", "nothing"], folder.path());
    assert!(said(&output).contains("bursts, rivals, fft, fmradio"), "{}", said(&output));
}
