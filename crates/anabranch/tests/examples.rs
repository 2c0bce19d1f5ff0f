//! The examples: their three forms give the same, and the annotated one is the sequential one plus a few lines.
#![allow(dead_code)]

#[path = "../examples/bzip2.rs"]
mod bzip2;
#[path = "../examples/images.rs"]
mod images;
#[path = "../examples/log.rs"]
mod log;
#[path = "../examples/matrix.rs"]
mod matrix;
#[path = "../examples/primes.rs"]
mod primes;
#[path = "../examples/resume.rs"]
mod resume;
#[path = "../examples/stripes.rs"]
mod stripes;
#[path = "../examples/words.rs"]
mod words;

use std::fs;
use std::io::{self, Cursor};
use std::path::Path;

/// Each form of an example gives this.
macro_rules! forms {
    ($example:ident($($arg:expr),*)) => {{
        let expected = $example::sequential($($arg),*);
        assert_eq!($example::annotated($($arg),*), expected, stringify!($example));
        assert_eq!($example::builder($($arg),*), expected, stringify!($example));
        expected
    }};
}

#[test]
fn primes_below_a_limit() {
    assert_eq!(forms!(primes(30)), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
    assert_eq!(forms!(primes(10_000)).len(), 1_229);
}

#[test]
fn rows_of_a_product() {
    let (a, b) = (matrix::matrix(30, 3), matrix::matrix(30, 5));
    assert_eq!(forms!(matrix(&a, &b, 30)).len(), 900);
}

#[test]
fn words_and_the_error_of_a_line() {
    let text = b"The river, and the sea.\nAnd\nrain".as_slice();
    let counts = words::sequential(text).unwrap();
    assert_eq!(words::annotated(text).unwrap(), counts);
    assert_eq!(words::builder(text).unwrap(), counts);
    assert_eq!((counts["the"], counts["and"], counts["rain"]), (2, 2, 1));
    // The second line is no text.
    let broken = b"one\n\xff\xff\nthree".as_slice();
    let kind = |result: io::Result<words::Counts>| result.unwrap_err().kind();
    assert_eq!(kind(words::annotated(broken)), kind(words::sequential(broken)));
    assert_eq!(kind(words::builder(broken)), kind(words::sequential(broken)));
}

#[test]
fn figures_of_a_log_and_its_first_bad_line() {
    let figures = forms!(log(&log::sample(2_000))).unwrap();
    assert_eq!(figures["/0"].requests, 400);
    let error = forms!(log(&log::sample(2_000).replacen("/3 ", "/3 x", 7))).unwrap_err();
    assert!(error.starts_with("`x21`"), "{error}");
}

#[test]
fn a_file_as_bzip2_in_memory_and_on_disk() {
    use std::io::Read;
    let text = bzip2::sample(2_000_000);
    let mut packed = [Vec::new(), Vec::new(), Vec::new()];
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("example.bz2");
    bzip2::sequential(&text[..], &mut packed[0]).unwrap();
    bzip2::annotated(&text[..], &mut packed[1]).unwrap();
    bzip2::builder(&text[..], fs::File::create(&path).unwrap()).unwrap();
    packed[2] = fs::read(&path).unwrap();
    assert!(packed[0] == packed[1] && packed[0] == packed[2]);
    let mut back = Vec::new();
    ::bzip2::read::MultiBzDecoder::new(&packed[0][..]).read_to_end(&mut back).unwrap();
    assert!(back == text);
}

#[test]
fn a_copy_goes_on_where_it_failed() {
    type Form = fn(Cursor<Vec<u8>>, &mut Cursor<Vec<u8>>, &mut u64) -> io::Result<Vec<u32>>;
    let whole: Vec<u8> = (0..1_000_000u32).map(|n| (n / 3) as u8).collect();
    let mut broken = whole.clone();
    broken[700_000..702_000].fill(0xEE);
    let forms: [Form; 3] = [
        |from, to, done| resume::sequential(from, to, done),
        |from, to, done| resume::annotated(from, to, done),
        |from, to, done| resume::builder(from, to, done),
    ];
    let ends = forms.map(|copy| {
        let (mut to, mut done) = (Cursor::new(Vec::new()), 0);
        let failed = copy(Cursor::new(broken.clone()), &mut to, &mut done).unwrap_err();
        let written = (done, to.get_ref().clone());
        assert!(written.1 == whole[..done as usize]);
        let sums = copy(Cursor::new(whole.clone()), &mut to, &mut done).unwrap();
        assert!(*to.get_ref() == whole);
        (failed.to_string(), written, sums)
    });
    // The block with the hole is the eleventh.
    assert_eq!(ends[0].1.0, 10 * (64 << 10));
    assert!(ends[0] == ends[1] && ends[0] == ends[2]);
}

#[test]
fn stripes_that_each_go_to_their_place() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (packed, output) = (folder.join("stripes.packed"), folder.join("stripes.output"));
    let text: Vec<u8> = (0..200_000u32).map(|n| (n % 251) as u8).collect();
    let index = stripes::pack(&text, &packed).unwrap();
    for form in [stripes::sequential, stripes::annotated, stripes::builder] {
        fs::File::create(&output).unwrap();
        form(&packed, &index, &output, 3).unwrap();
        assert!(fs::read(&output).unwrap() == text);
    }
}

#[test]
fn pictures_through_filters() {
    assert_eq!(forms!(images(&images::sample(12))).len(), 12);
}

/// The lines of a function of an example, without its doc.
fn function(source: &str, name: &str) -> Vec<String> {
    let start = source.find(&format!("pub fn {name}(")).expect("a function");
    let end = start + source[start..].find("\n}\n").expect("its end");
    source[start..end].lines().map(|line| line.replace(name, "form")).collect()
}

#[test]
fn annotations_are_all_that_is_added_and_at_most_four_lines() {
    let mut longest = 0;
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        if !source.contains("#[anabranch::stream]") {
            continue;
        }
        let is_annotation = |line: &&String| line.trim_start().starts_with("#[");
        let annotated = function(&source, "annotated");
        let added = 1 + annotated.iter().filter(is_annotation).count();
        let without: Vec<String> = annotated.into_iter().filter(|line| !is_annotation(&line)).collect();
        assert_eq!(without, function(&source, "sequential"));
        assert!(added <= 4, "{added} lines");
        longest = longest.max(added);
    }
    assert_eq!(longest, 4);
}
