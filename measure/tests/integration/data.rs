//! Real data in place of generated ones, from a folder like those that `measure/applications/data.sh` fills.

use std::fs;
use std::path::{Path, PathBuf};

use crate::suite::{folder, run, said};

/// A cascade with one stump, which is passed where the right half is brighter.
const CASCADE: &str = "<opencv_storage><cascade><stageType>BOOST</stageType><featureType>HAAR</featureType><height>20</height>\
    <width>20</width><stages><_><stageThreshold>1.</stageThreshold><weakClassifiers><_><internalNodes>0 -1 0 0.1</internalNodes>\
    <leafValues>0. 2.</leafValues></_></weakClassifiers></_></stages><features><_><rects><_>0 0 20 20 -1.</_>\
    <_>10 0 10 20 2.</_></rects></_></features></cascade></opencv_storage>";

/// A folder with little of everything. Its photographs are those of the tests of the decoder.
fn data(name: &str) -> PathBuf {
    let data = folder(name);
    let photograph =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../signals/dsp/tests/integration/data/jpeg/420.jpg");
    for name in ["photographs", "faces/none", "faces/one", "faces/several"] {
        fs::create_dir_all(data.join(name)).unwrap();
        fs::copy(&photograph, data.join(name).join("a.jpg")).unwrap();
    }
    let prose = "It was the best of times, it was the worst of times.\n".repeat(300);
    let read = format!("@read\n{}\n+\n{}\n", "ACGT".repeat(25), "I".repeat(100));
    for (name, content) in [
        ("text", prose.as_str()),
        ("source", "fn main() {}\n"),
        ("image.iso", "CD001"),
        ("media", "ftyp"),
        ("reads.fastq", &read.repeat(20)),
        ("haarcascade_frontalface_alt.xml", CASCADE),
        ("haarcascade_eye.xml", CASCADE),
        ("packages", "some-package 1.0\n"),
    ] {
        fs::write(data.join(name), content).unwrap();
    }
    data
}

fn groups(out: &Path) -> (serde_json::Value, Vec<(String, String)>) {
    let results: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("results.json")).unwrap()).unwrap();
    let name = |group: &serde_json::Value, field: &str| group[field].as_str().unwrap().to_owned();
    let of_group = |group: &serde_json::Value| {
        assert_eq!(group["without"].as_array().unwrap().len(), 0, "{group}");
        (format!("{} {}", name(group, "application"), name(group, "workload")), name(group, "data"))
    };
    let groups = results["groups"].as_array().unwrap().iter().map(of_group).collect();
    (results, groups)
}

#[test]
fn each_case_says_which_real_data_it_had() {
    let (data, out) = (data("data-real"), folder("data-out"));
    let apps = "images,similarity,eyes/one,eyes/none,bzip2,bunzip2,files,gzip,lzip/iso,lunzip/iso,words,dedup,fastq,log";
    let with = ["--apps", apps, "--data", data.to_str().unwrap()];
    let ran = run(&out, &with);
    assert!(ran.status.success(), "{}", said(&ran));
    let (results, groups) = groups(&out);
    for (case, of) in groups {
        let (application, workload) = case.split_once(' ').unwrap();
        let expected = match (application, workload) {
            ("images" | "similarity", _) => "photographs",
            ("eyes", _) => {
                "faces/none, faces/one, faces/several, haarcascade_frontalface_alt.xml, haarcascade_eye.xml"
            }
            ("dedup", _) => "source",
            ("fastq", _) => "reads.fastq",
            ("log", _) => "generated",
            (_, "text") => "text",
            (_, "noise") => "media",
            _ => "image.iso",
        };
        assert_eq!(of, expected, "{case}");
    }
    assert!(results["data"].as_str().unwrap().ends_with("(some-package 1.0)"), "{}", results["data"]);
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("; data: photographs") && page.contains("(some-package 1.0)"));
}

#[test]
fn results_of_other_data_are_not_mixed() {
    let (data, out) = (data("data-mixed"), folder("data-mixed-out"));
    let apps = ["--apps", "words"];
    let with = [&apps[..], &["--data", data.to_str().unwrap()]].concat();
    let ran = run(&out, &with);
    assert!(ran.status.success(), "{}", said(&ran));
    let without = run(&out, &apps);
    assert!(
        !without.status.success() && said(&without).contains("tiny data, generated"),
        "{}",
        said(&without)
    );
    fs::write(data.join("media"), "other").unwrap();
    let other = run(&out, &with);
    assert!(!other.status.success() && said(&other).contains("--fresh replaces it"), "{}", said(&other));
}

#[test]
fn a_missing_or_damaged_file_is_named() {
    let data = data("data-damaged");
    let with = ["--apps", "words", "--data", data.to_str().unwrap()];
    let photograph = data.join("faces/one/a.jpg");
    fs::write(&photograph, &fs::read(&photograph).unwrap()[..200]).unwrap();
    let ran = run(&folder("data-damaged-out"), &with);
    assert!(!ran.status.success(), "{}", said(&ran));
    assert!(
        said(&ran).contains("faces/one/a.jpg") && said(&ran).contains("sh measure/applications/data.sh DIR"),
        "{}",
        said(&ran)
    );
    fs::remove_file(data.join("text")).unwrap();
    let ran = run(&folder("data-missing-out"), &with);
    assert!(!ran.status.success(), "{}", said(&ran));
    assert!(
        said(&ran).contains("/text: ") && said(&ran).contains("sh measure/applications/data.sh DIR"),
        "{}",
        said(&ran)
    );
}
