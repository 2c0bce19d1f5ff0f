//! The decoder for JPEG: its pictures are those of the reference decoder, and damaged files are errors.

use std::time::{Duration, Instant};

use dsp::jpeg::{DEFAULT_BURST, decode};
use dsp::{Error, Executor, Input, Output, Run};

use crate::command::{dsp, message};
use crate::random::Random;

/// Files made by `cjpeg` of libjpeg-turbo 2.1.5, of noise and waves of 35 x 27 pixels or less (129 x 65 in
/// `420_progressive`), with the options that their names say; and the CRC-32 of what `djpeg -dct int` of the same
/// version makes of them.
const GOLDEN: [(&str, u32); 11] = [
    ("444", 0x7817353e),
    ("422_restarts", 0x1a675680),
    ("420", 0xb43d6128),
    ("440", 0x8ac591a0),
    ("411_progressive", 0xc6c1ad13),
    ("420_progressive", 0x60724986),
    ("420_progressive_restarts", 0xfa92394c),
    ("grey", 0x13b13a04),
    ("grey_progressive", 0x13b13a04),
    ("rgb", 0x243cfdfc),
    ("one_pixel", 0x02fa8534),
];

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/integration/data/jpeg/{name}.jpg", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn decoded(bytes: &[u8], burst: usize, executor: Executor) -> Result<Vec<u8>, Error> {
    let mut picture = Vec::new();
    let mut output = Output::from_writer("the picture", &mut picture);
    decode(Input::from_reader("the file", bytes), &mut output, burst, &Run::new(executor))?;
    output.finish()?;
    Ok(picture)
}

#[test]
fn pictures_are_those_of_the_reference_decoder() {
    for (name, expected) in GOLDEN {
        let picture = decoded(&file(name), DEFAULT_BURST, Executor::Inline).unwrap();
        assert_eq!(crc32fast::hash(&picture), expected, "{name}");
    }
}

#[test]
fn the_network_makes_the_picture_of_the_sequential_form() {
    for (name, expected) in GOLDEN {
        for (burst, workers) in [(1, 2), (3, 3), (64, 1), (4_096, 2)] {
            let picture = decoded(&file(name), burst, Executor::Workers(workers)).unwrap();
            assert_eq!(crc32fast::hash(&picture), expected, "{name}, bursts of {burst}, {workers} workers");
        }
    }
}

/// Compares pictures of other sizes and options with `djpeg`, if it is installed.
#[test]
fn samples_are_at_most_one_off_djpeg() {
    let mut random = Random::new(1);
    for (width, height) in [(1, 40), (2, 2), (3, 5), (33, 16), (100, 75)] {
        let mut picture = format!("P6\n{width} {height}\n255\n").into_bytes();
        let level = |at: usize, noise: u64| (at * 3 % 200) as u8 + (noise % 56) as u8;
        picture.extend((0..3 * width * height).map(|at| level(at / 3 + at % 3 * 40, random.next() >> 20)));
        for sample in ["1x1", "2x1", "1x2", "2x2", "4x2"] {
            for more in [&["-baseline"][..], &["-progressive"], &["-restart", "1B"]] {
                let arguments = [&["-quality", "85", "-sample", sample], more].concat();
                let Some(file) = abz_foreign::through("cjpeg", &arguments, &picture) else { return };
                let Some(expected) = abz_foreign::through("djpeg", &["-dct", "int"], &file) else { return };
                let made = decoded(&file, DEFAULT_BURST, Executor::Inline).unwrap();
                assert_eq!(made.len(), expected.len());
                let most = made.iter().zip(&expected).map(|(made, expected)| made.abs_diff(*expected)).max();
                assert!(most <= Some(1), "{width} x {height}, {arguments:?}: {most:?} off");
            }
        }
    }
}

#[test]
fn a_cut_file_is_an_error_with_its_offset() {
    for (name, _) in GOLDEN {
        let whole = file(name);
        for cut in (0..whole.len()).step_by(whole.len() / 50 + 1) {
            for executor in [Executor::Inline, Executor::Workers(2)] {
                let error = decoded(&whole[..cut], DEFAULT_BURST, executor).unwrap_err();
                assert!(
                    error.offset().is_some_and(|offset| offset <= cut as u64),
                    "{name} cut at {cut}: {error}"
                );
            }
        }
    }
}

/// Changes bytes of files for half a second, or for `DSP_FUZZ_SECONDS` seconds.
#[test]
fn mutated_files_do_no_harm() {
    let seconds = std::env::var("DSP_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let time = seconds.map_or(Duration::from_millis(500), Duration::from_secs);
    let files = GOLDEN.map(|(name, _)| file(name));
    let begin = Instant::now();
    let mut random = Random::new(if seconds.is_some() { begin.elapsed().as_nanos() as u64 + 7 } else { 7 });
    // At least this number of files, however slow the machine is.
    let mut least = 100;
    while least > 0 || begin.elapsed() < time {
        least -= i32::from(least > 0);
        let mut bytes = files[(random.next() >> 8) as usize % files.len()].clone();
        for _ in 0..1 + random.next() % 4 {
            let at = (random.next() >> 8) as usize % bytes.len();
            match random.next() >> 16 & 3 {
                0 => bytes[at] = 0xff,
                1 => bytes.truncate(at.max(4)),
                _ => bytes[at] = (random.next() >> 24) as u8,
            }
        }
        // A hostile size takes long to write.
        let frame =
            bytes.windows(2).position(|pair| matches!(pair, [0xff, 0xc0..=0xc2])).unwrap_or(bytes.len());
        if bytes.get(frame + 5..frame + 9).is_some_and(|size| size[0] > 4 || size[2] > 4) {
            continue;
        }
        let inline = decoded(&bytes, DEFAULT_BURST, Executor::Inline).map_err(|error| error.to_string());
        let network = decoded(&bytes, 5, Executor::Workers(2)).map_err(|error| error.to_string());
        assert!(inline == network, "{:?} and {:?} for {bytes:?}", inline.err(), network.err());
    }
}

#[test]
fn hostile_sizes_are_errors_and_take_no_memory() {
    for (name, what) in [("420_progressive", "needs"), ("420", "the file ends"), ("grey", "the file ends")] {
        let mut bytes = file(name);
        let frame = bytes.windows(2).position(|pair| matches!(pair, [0xff, 0xc0 | 0xc2])).unwrap();
        bytes[frame + 5..frame + 9].fill(0xff);
        for executor in [Executor::Inline, Executor::Workers(2)] {
            let error = decoded(&bytes, DEFAULT_BURST, executor).unwrap_err().to_string();
            assert!(error.contains(what) || error.contains("damaged"), "{name}: {error}");
        }
    }
}

#[test]
fn the_command_decodes_pipes_and_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let whole = file("422_restarts");
    let done = dsp(&["jpeg", "-", "-", "--workers", "2"], folder.path(), &whole);
    assert!(done.status.success(), "{}", message(&done));
    assert_eq!(crc32fast::hash(&done.stdout), GOLDEN[1].1);
    std::fs::write(folder.path().join("cut.jpg"), &whole[..whole.len() - 10]).unwrap();
    let done = dsp(&["jpeg", "cut.jpg", "out.ppm"], folder.path(), b"");
    assert_eq!(done.status.code(), Some(1));
    let expected = format!(
        "dsp: cut.jpg: at byte {}: the file ends within the picture; get a whole copy of it\n",
        whole.len() - 10
    );
    assert_eq!(message(&done), expected);
    assert!(!folder.path().join("out.ppm").exists());
    let done = dsp(&["jpeg", "-", "-"], folder.path(), b"P6\n1 1\n255\n123");
    assert!(message(&done).contains("at byte 0: expected the bytes FF D8"), "{}", message(&done));
    let done = dsp(&["jpeg", "-", "-", "--explain"], folder.path(), &whole);
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains("entropy") && text.contains("upsample"), "{text}");
}
