//! The examples: all forms of a loop give the same result, and the annotated form is the plain one plus a few
//! lines.
#![allow(dead_code)]

#[path = "../../examples/bzip2.rs"]
mod bzip2;
#[path = "../../examples/daemon.rs"]
mod daemon;
#[path = "../../examples/echo.rs"]
mod echo;
#[path = "../../examples/frames.rs"]
mod frames;
#[path = "../../examples/images.rs"]
mod images;
#[path = "../../examples/links.rs"]
mod links;
#[path = "../../examples/log.rs"]
mod log;
#[path = "../../examples/matrix.rs"]
mod matrix;
#[path = "../../examples/payments.rs"]
mod payments;
#[path = "../../examples/primes.rs"]
mod primes;
#[path = "../../examples/requests.rs"]
mod requests;
#[path = "../../examples/resume.rs"]
mod resume;
#[path = "../../examples/service.rs"]
mod service;
#[path = "../../examples/ssp_images.rs"]
mod ssp_images;
#[path = "../../examples/stripes.rs"]
mod stripes;
#[path = "../../examples/thumbnails.rs"]
mod thumbnails;
#[path = "../../examples/ticks.rs"]
mod ticks;
#[path = "../../examples/traffic.rs"]
mod traffic;
#[path = "../../examples/uploads.rs"]
mod uploads;
#[path = "../../examples/words.rs"]
mod words;

use std::fs;
use std::io::{self, Cursor};
use std::path::Path;
use std::time::Duration;

/// Checks that each form of an example gives the same result.
macro_rules! forms {
    ($example:ident($($arg:expr),*)) => {{
        let expected = $example::sequential($($arg),*);
        assert_eq!($example::annotated($($arg),*), expected, stringify!($example));
        assert_eq!($example::builder($($arg),*), expected, stringify!($example));
        assert_eq!($example::with_rayon($($arg),*), expected, stringify!($example));
        assert_eq!($example::with_channels($($arg),*), expected, stringify!($example));
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
    assert_eq!(words::with_rayon(text).unwrap(), counts);
    assert_eq!(words::with_channels(text).unwrap(), counts);
    assert_eq!((counts["the"], counts["and"], counts["rain"]), (2, 2, 1));
    // The second line is not UTF-8.
    let broken = b"one\n\xff\xff\nthree".as_slice();
    let kind = |result: io::Result<words::Counts>| result.unwrap_err().kind();
    assert_eq!(kind(words::annotated(broken)), kind(words::sequential(broken)));
    assert_eq!(kind(words::builder(broken)), kind(words::sequential(broken)));
    assert_eq!(kind(words::with_rayon(broken)), kind(words::sequential(broken)));
    assert_eq!(kind(words::with_channels(broken)), kind(words::sequential(broken)));
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
    let mut packed = [const { Vec::new() }; 5];
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("example.bz2");
    bzip2::sequential(&text[..], &mut packed[0]).unwrap();
    bzip2::annotated(&text[..], &mut packed[1]).unwrap();
    bzip2::builder(&text[..], fs::File::create(&path).unwrap()).unwrap();
    packed[2] = fs::read(&path).unwrap();
    bzip2::with_rayon(&text[..], &mut packed[3]).unwrap();
    bzip2::with_channels(&text[..], &mut packed[4]).unwrap();
    assert!(packed.iter().all(|form| *form == packed[0]));
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
    let forms: [Form; 5] = [
        |from, to, done| resume::sequential(from, to, done),
        |from, to, done| resume::annotated(from, to, done),
        |from, to, done| resume::builder(from, to, done),
        |from, to, done| resume::with_rayon(from, to, done),
        |from, to, done| resume::with_channels(from, to, done),
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
    assert!(ends.iter().all(|end| *end == ends[0]));
}

#[test]
fn stripes_that_each_go_to_their_place() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (packed, output) = (folder.join("stripes.packed"), folder.join("stripes.output"));
    let text: Vec<u8> = (0..200_000u32).map(|n| (n % 251) as u8).collect();
    let index = stripes::pack(&text, &packed).unwrap();
    let forms = [
        stripes::sequential,
        stripes::annotated,
        stripes::builder,
        stripes::with_rayon,
        stripes::with_threads,
    ];
    for form in forms {
        fs::File::create(&output).unwrap();
        form(&packed, &index, &output, 3).unwrap();
        assert!(fs::read(&output).unwrap() == text);
    }
}

#[test]
fn pictures_through_filters() {
    assert_eq!(forms!(images(&images::sample(12))).len(), 12);
}

#[test]
fn images_through_the_pipeline_of_the_listing() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ssp_images");
    ssp_images::fill(&folder, 12).unwrap();
    let paths = ssp_images::files(&folder).unwrap();
    assert_eq!(paths.len(), 13);
    let expected = ssp_images::sequential(paths.clone());
    assert_eq!(expected.len(), 12);
    let images: Vec<_> = expected.iter().map(|(_, path)| fs::read(path).unwrap()).collect();
    expected.iter().for_each(|(_, path)| fs::remove_file(path).unwrap());
    let saved = ssp_images::ssp(paths, 3);
    // The images come in any order, and are numbered in this order.
    assert!(saved.iter().map(|(number, _)| *number).eq(1..=12));
    let mut saved: Vec<_> = saved.into_iter().map(|(_, path)| path).collect();
    saved.sort();
    assert!(saved.iter().eq(expected.iter().map(|(_, path)| path)));
    assert!(saved.iter().zip(images).all(|(path, image)| fs::read(path).unwrap() == image));
}

/// The lines of a function of an example, without its documentation and its name. `None` if the example has
/// no such function.
fn function(source: &str, name: &str) -> Option<Vec<String>> {
    let start = source.find(&format!("pub fn {name}("))?;
    let end = start + source[start..].find("\n}\n").expect("its end");
    Some(source[start..end].lines().map(|line| line.replace(name, "form")).collect())
}

/// The name and the text of each example that has forms.
fn examples() -> Vec<(String, String)> {
    let names = ["primes", "matrix", "words", "log", "bzip2", "resume", "stripes", "images"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let annotated =
        fs::read_dir(&folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    assert_eq!(annotated.filter(|source| source.contains("#[anabranch::stream]")).count(), names.len());
    let source = |name: &str| fs::read_to_string(folder.join(name).with_extension("rs")).unwrap();
    names.iter().map(|name| ((*name).to_owned(), source(name))).collect()
}

#[test]
fn annotations_are_all_that_is_added_and_at_most_four_lines() {
    let mut longest = 0;
    for (name, source) in examples() {
        let is_annotation = |line: &&String| line.trim_start().starts_with("#[");
        let annotated = function(&source, "annotated").unwrap();
        let added = 1 + annotated.iter().filter(is_annotation).count();
        let without: Vec<String> = annotated.into_iter().filter(|line| !is_annotation(&line)).collect();
        assert_eq!(Some(without), function(&source, "sequential"));
        assert!(added <= 4, "{name}: {added} lines");
        longest = longest.max(added);
    }
    assert_eq!(longest, 4);
}

/// How many lines are only in `new` and only in `old`, by their longest common subsequence.
fn difference(old: &[String], new: &[String]) -> String {
    let mut common = vec![vec![0; new.len() + 1]; old.len() + 1];
    for (i, a) in old.iter().enumerate() {
        for (j, b) in new.iter().enumerate() {
            common[i + 1][j + 1] =
                if a == b { common[i][j] + 1 } else { common[i][j + 1].max(common[i + 1][j]) };
        }
    }
    let common = common[old.len()][new.len()];
    match (new.len() - common, old.len() - common) {
        (more, 0) => format!("+{more}"),
        (more, less) => format!("+{more} -{less}"),
    }
}

/// The lines of a form are those of its function; an attribute before it is one of them.
#[test]
fn the_book_counts_the_lines_of_each_form() {
    let mut table = String::from(
        "| example | annotations | builder | rayon | channels by hand |\n|---|--:|--:|--:|--:|\n",
    );
    for (name, source) in examples() {
        let plain = function(&source, "sequential").unwrap();
        let mut annotated = function(&source, "annotated").unwrap();
        annotated.insert(0, "#[anabranch::stream]".to_owned());
        let channels = function(&source, "with_channels").or_else(|| function(&source, "with_threads"));
        let forms = [
            annotated,
            function(&source, "builder").unwrap(),
            function(&source, "with_rayon").unwrap(),
            channels.unwrap(),
        ];
        let counts: Vec<String> = forms.iter().map(|form| difference(&plain, form)).collect();
        table += &format!("| {name} | {} |\n", counts.join(" | "));
    }
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/compared.md")).unwrap();
    assert!(page.contains(&table), "book/src/compared.md should have\n\n{table}");
}

#[test]
fn a_log_of_requests_and_its_troubles() {
    use requests::Trouble;
    let log = "/ 200 512\n/river 200 4096\n/sea 404 80\n";
    assert_eq!(
        requests::statuses(log.as_bytes()).unwrap().into_iter().collect::<Vec<_>>(),
        [(200, 2), (404, 1)]
    );
    assert_eq!(requests::longest(log.as_bytes()).unwrap().unwrap().path, "/river");
    let number = requests::statuses(&b"/ 200 512\n/ abc 1\n/ 1\n"[..]);
    assert!(matches!(number, Err(Trouble::Number(_))));
    let line = requests::statuses(&b"/ 200 512\n/ 1\n/ abc 1\n"[..]);
    assert!(matches!(line, Err(Trouble::Line(line)) if line == "/ 1"));
    let input = requests::statuses(&b"/ 200 512\n\xff\n"[..]);
    assert!(matches!(input, Err(Trouble::Input(_))));
}

#[test]
fn a_service_answers_everything_that_it_has_accepted() {
    let questions = ["down", "the", "river"].repeat(20);
    let (answers, stopped) = service::answers(&questions);
    assert_eq!(answers, questions.iter().map(|question| question.to_uppercase()).collect::<Vec<_>>());
    assert_eq!((stopped.delivered, stopped.dropped), (60, 0));
}

#[test]
fn frames_that_refer_to_others() {
    for count in [0, 1, 2, 3, 40, 98] {
        let video = frames::video(count);
        assert_eq!(frames::builder(video.clone()).unwrap(), frames::sequential(video));
    }
}

#[test]
fn windows_over_a_log() {
    let count = 20_000;
    let (minutes, late) = traffic::by_minute(traffic::sample(count));
    assert_eq!(minutes.iter().map(|minute| minute.2).sum::<u64>() + late, count);
    assert!(late > 0 && minutes.iter().all(|minute| minute.0 % 60 == 0));
    let times = traffic::sample(count).map(|request| request.micros).collect::<Vec<_>>();
    let slowest = times.windows(100).step_by(10).map(|times| *times.iter().max().unwrap());
    assert_eq!(traffic::slowest(traffic::sample(count)), slowest.collect::<Vec<_>>());
    let visits = traffic::visits(traffic::sample(count));
    assert!(visits.len() > 500 && visits.iter().map(|visit| visit.1).sum::<usize>() <= count as usize);
}

#[test]
fn thumbnails_of_the_pictures_that_can_be_read() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("thumbnails");
    thumbnails::fill(&folder, 7).unwrap();
    let paths = thumbnails::pictures(&folder).unwrap();
    assert_eq!(paths.len(), 8);
    let (made, failed) = thumbnails::thumbnails(paths).unwrap();
    let names: Vec<_> = made.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, [1, 2, 3, 4, 5, 6, 7].map(|n| format!("{n:03}.thumb.ppm")));
    let small = ::image::open(&made[6]).unwrap().into_rgb8();
    assert_eq!(small.dimensions(), (32, 15));
    let [(broken, _)] = &failed[..] else { panic!("{failed:?}") };
    assert!(broken.ends_with("broken.ppm"));
    // Thumbnails are no pictures of the folder.
    assert_eq!(thumbnails::pictures(&folder).unwrap().len(), 8);
}

#[test]
fn lines_of_a_socket_until_it_is_stopped() {
    let lines: Vec<String> = (0..200).map(|n| format!("line {n}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (answers, answered) = echo::conversation(&lines).unwrap();
    assert!(
        answers.iter().eq(lines
            .iter()
            .map(|line| line.chars().rev().collect::<String>())
            .collect::<Vec<_>>()
            .iter())
    );
    assert_eq!(answered, 200);
}

#[test]
fn a_daemon_does_its_jobs_and_obeys() {
    let mut out = Vec::new();
    let stopped =
        daemon::run("ab c\npause\nstate\nd\nresume\n\ne3\nstop\nnever\n".as_bytes(), &mut out).unwrap();
    assert_eq!((stopped.delivered, stopped.dropped), (3, 0));
    let out = String::from_utf8(out).unwrap();
    let results: Vec<&str> = out.lines().filter(|line| line.ends_with("letters")).collect();
    assert_eq!(results, ["ab c: 3 letters", "d: 1 letters", "e3: 1 letters"]);
    // While it is paused it refuses what it has no room for, and goes on reading commands.
    let jobs = "pause\n".to_owned() + &"job\n".repeat(1_000);
    let mut out = Vec::new();
    let stopped = daemon::run(jobs.as_bytes(), &mut out).unwrap();
    let refused = String::from_utf8(out).unwrap().lines().filter(|line| line.contains("refused")).count();
    assert_eq!(stopped.delivered as usize + refused, 1_000);
    assert!(refused > 900 && stopped.dropped == 0);
    // Input that is no text ends it with an error, after the jobs before.
    let mut out = Vec::new();
    assert!(daemon::run(&b"ab\n\xff\n"[..], &mut out).is_err());
    assert_eq!(out, b"ab: 2 letters\n");
}

#[test]
fn pages_by_their_distance() {
    let distances = links::distances(&links::sample(100), "/1");
    assert_eq!(distances.len(), 201);
    for n in 1..=201u32 {
        assert_eq!(distances[&format!("/{n}")], n.ilog2(), "page {n}");
    }
    assert_eq!(
        links::distances(&links::sample(3), "/9").into_iter().collect::<Vec<_>>(),
        [("/9".to_owned(), 0)]
    );
}

#[test]
fn records_to_servers_that_are_busy_now_and_then() {
    let servers = [std::sync::Arc::<uploads::Server>::default(), Default::default()];
    assert_eq!(uploads::send(0..150, &servers).unwrap(), 150);
    assert_eq!(servers.iter().map(|server| server.records()).sum::<u64>(), 150);
}

#[test]
fn payments_by_two_ways_with_a_journal() {
    let mut journal = Vec::new();
    let booked = payments::book("ann,bob,250\nbob,cid\nbob,cid,99\nann,cid,x\n", &mut journal);
    let results: Vec<&str> = booked.iter().map(|(result, _)| result.as_str()).collect();
    let expected = [
        "250 to bob, 250 so far",
        "refused: bob,cid: expected FROM,TO,CENTS",
        "99 to cid, 349 so far",
        "refused: ann,cid,x: the amount is no number",
    ];
    assert_eq!(results, expected);
    assert_eq!(journal.len(), 4);
}

#[test]
fn the_timers_of_a_runtime_tick_in_a_stream() {
    let millisecond = Duration::from_millis(1);
    let sums = ticks::sums(20, millisecond, 5, Duration::MAX).unwrap();
    let squares: Vec<u32> = (0..20).map(|n| n * n).collect();
    assert_eq!(sums, squares.chunks(5).map(|chunk| chunk.iter().sum()).collect::<Vec<u32>>());
    assert_eq!(
        ticks::sums(20, millisecond, 5, millisecond).unwrap().into_iter().sum::<u32>(),
        squares.iter().sum::<u32>()
    );
}
