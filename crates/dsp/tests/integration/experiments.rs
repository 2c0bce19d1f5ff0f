//! The experiments: their tables are complete, and their pictures are there.

use dsp::experiments::{Effort, Line, Part, Plot, Rivals, run};

use crate::command::{dsp, message};

#[test]
fn every_experiment_has_a_table_and_its_picture() {
    let effort = Effort { rounds: 1, microseconds: 20, is_quick: true };
    let mut parts = 0;
    let photo = format!("{}/tests/integration/data/jpeg/420.jpg", env!("CARGO_MANIFEST_DIR"));
    let photo = std::fs::read(photo).unwrap();
    let report = run(
        effort,
        &[Part::Bursts, Part::Rivals, Part::Programs],
        &Rivals::absent("a test builds none"),
        Some(&photo),
        |_| parts += 1,
    )
    .unwrap();
    assert!(parts > 20);
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
    ] {
        assert!(report.text.contains(&format!("| {name} |")), "{name}: {}", report.text);
    }
    assert!(!report.text.contains("NaN") && !report.text.contains("inf"), "{}", report.text);
    assert!(report.text.contains("| oneTBB `task_group` | absent: a test builds none |"), "{}", report.text);
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
            "jpeg.svg"
        ]
    );
    for (name, svg) in &report.pictures {
        assert!(report.text.contains(&format!("({name})")));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }
}

#[test]
fn a_chart_has_a_path_for_each_line() {
    let line =
        |name: &str, is_dashed| Line { name: name.into(), points: vec![(1.0, 0.5), (8.0, 2.0)], is_dashed };
    let lines = vec![line("a < b", false), line("c", true)];
    let svg = Plot { title: "t & u".into(), across: "x", up: "y", lines }.svg();
    assert!(svg.contains("a &lt; b") && svg.contains("t &amp; u"));
    assert_eq!(svg.matches("stroke-dasharray").count(), 2);
    assert_eq!(svg.matches("fill=\"none\"").count(), 2);
}

#[test]
fn one_part_has_no_tables_of_the_others() {
    let effort = Effort { rounds: 1, microseconds: 20, is_quick: true };
    let report = run(effort, &[Part::Rivals], &Rivals::absent("a test builds none"), None, |_| ()).unwrap();
    assert!(
        report.text.contains("## The smallest burst next to") && !report.text.contains("## Block transforms")
    );
    assert!(report.text.contains("experiments --quick --only rivals`"), "{}", report.text);
    assert_eq!(report.pictures.len(), 2);
    let folder = tempfile::tempdir().unwrap();
    let output = dsp(&["experiments", "--only", "nothing"], folder.path(), b"");
    assert!(message(&output).contains("bursts, rivals, programs"), "{}", message(&output));
}
