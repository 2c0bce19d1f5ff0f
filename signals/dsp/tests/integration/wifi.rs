//! The modem for 802.11a: what is sent is received, over every channel for which it is made.

use dsp::wifi::{
    BadFrame, Channel, Encoder, Fault, GAP, MOST_PAYLOAD, Noise, Rate, Received, SAMPLE_BYTES, Sending,
    Split, error_rate, frame_samples, receive, receive_by, send,
};
use dsp::{Error, Executor, Input, Output, Run};

use crate::command::{dsp, message};
use crate::random::Random;

fn random(count: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (random.next() >> 24) as u8).collect()
}

fn sent(bytes: &[u8], sending: &Sending, executor: Executor) -> Vec<u8> {
    let mut signal = Vec::new();
    let mut output = Output::from_writer("the signal", &mut signal);
    send(Input::from_reader("the bytes", bytes), &mut output, sending, &Run::new(executor)).unwrap();
    output.finish().unwrap();
    signal
}

fn received(signal: &[u8], executor: Executor) -> Result<(Vec<u8>, Received, Vec<BadFrame>), Error> {
    let (mut bytes, mut bad) = (Vec::new(), Vec::new());
    let mut output = Output::from_writer("the bytes", &mut bytes);
    let input = Input::from_reader("the signal", signal);
    let received = receive(input, &mut output, &Run::new(executor), |frame| bad.push(frame.clone()))?;
    output.finish()?;
    Ok((bytes, received, bad))
}

#[test]
fn each_way_to_share_the_work_receives_the_same() {
    let bytes = random(30_000, 5);
    let rates = [54, 6, 24].map(|mbps| Rate::of_mbps(mbps).unwrap()).to_vec();
    // Some frames are lost, and the end of the last one is missing.
    let channel = Channel { snr_db: Some(17.0), offset_hz: -70e3, seed: 3, ..Channel::default() };
    let mut signal = sent(&bytes, &Sending { rates, payload: 1_500, channel }, Executor::Inline);
    signal.truncate(signal.len() - 8 * 1_000);
    let wanted = received(&signal, Executor::Inline).unwrap();
    assert!(wanted.1.good > 5 && wanted.1.bad > 1, "{:?}", wanted.1);
    for split in [Split::Task, Split::Data, Split::Both] {
        for workers in 1..=3 {
            let (mut back, mut bad) = (Vec::new(), Vec::new());
            let mut output = Output::from_writer("the bytes", &mut back);
            let (input, run) =
                (Input::from_reader("the signal", signal.as_slice()), Run::new(Executor::Workers(workers)));
            let count = receive_by(split, input, &mut output, &run, |frame| bad.push(frame.clone())).unwrap();
            output.finish().unwrap();
            assert!((back, count, bad) == wanted, "{split:?}, {workers} workers: {count:?}");
        }
    }
}

#[test]
fn every_rate_passes_through_noise_and_a_frequency_offset() {
    // For each rate a ratio of signal to noise at which fewer than one frame in a million is lost.
    let ratios = [8.0, 10.0, 11.0, 14.0, 17.0, 21.0, 25.0, 27.0];
    for (rate, snr) in Rate::ALL.into_iter().zip(ratios) {
        let bytes = random(5_000, u64::from(rate.mbps()));
        let channel = Channel { snr_db: Some(snr), offset_hz: 113e3, seed: 7, ..Channel::default() };
        let signal = sent(&bytes, &Sending { channel, ..Sending::new(rate) }, Executor::Inline);
        let (back, count, bad) = received(&signal, Executor::Inline).unwrap();
        assert_eq!((count.good, bad), (2, Vec::new()), "{rate:?}");
        assert!(back == bytes, "{rate:?}");
    }
}

/// The message of the standard's example (IEEE Std 802.11a-1999, annex G, table G.1), with the check sequence that
/// it has there. The check sequence is wrong; later editions have 67 33 21 b6.
fn example() -> Vec<u8> {
    const HEADER: [u8; 24] = [
        0x04, 0x02, 0x00, 0x2e, 0x00, 0x60, 0x08, 0xcd, 0x37, 0xa6, 0x00, 0x20, 0xd6, 0x01, 0x3c, 0xf1, 0x00,
        0x60, 0x08, 0xad, 0x3b, 0xaf, 0x00, 0x00,
    ];
    let text = b"Joy, bright spark of divinity,\nDaughter of Elysium,\nFire-insired we trea";
    [&HEADER[..], text, &[0xda, 0x57, 0x99, 0xed]].concat()
}

/// The samples of the example's packet (table G.24): 880 and the one into which it fades.
fn example_samples() -> Vec<(f32, f32)> {
    let pairs = include_str!("data/annex_example.txt").split_whitespace();
    let thousandths = |text: &str| text.parse::<f32>().unwrap() / 1e3;
    pairs
        .map(|pair| pair.split_once(',').unwrap())
        .map(|(re, im)| (thousandths(re), thousandths(im)))
        .collect()
}

#[test]
fn the_standards_example_has_the_samples_of_the_standard() {
    let mut samples = Vec::new();
    Encoder::new().frame(&example(), Rate::of_mbps(36).unwrap(), 0b101_1101, &mut samples);
    let expected = example_samples();
    assert_eq!((samples.len(), expected.len()), (881, 881));
    for (at, (sample, (re, im))) in samples.iter().zip(expected).enumerate() {
        let off = (sample.re - re).abs().max((sample.im - im).abs());
        assert!(off < 0.001, "sample {at}: {sample} and not {re} + {im}i");
    }
}

#[test]
fn the_standards_example_is_received_but_for_its_wrong_check_sequence() {
    let quiet = [(0.0, 0.0); 100];
    let mut samples = example_samples();
    let signal = |samples: &[(f32, f32)]| -> Vec<u8> {
        let signal = quiet.iter().chain(samples).chain(&quiet);
        signal.flat_map(|(re, im)| [*re, *im]).flat_map(f32::to_le_bytes).collect()
    };
    let (_, _, bad) = received(&signal(&samples), Executor::Inline).unwrap();
    assert_eq!(bad, [BadFrame { index: 0, first: 100, fault: Fault::Check }]);

    // With the check sequence of later editions, which changes the last symbol alone.
    let mut message = example();
    message.truncate(96);
    message.extend([0x67, 0x33, 0x21, 0xb6]);
    let mut right = Vec::new();
    Encoder::new().frame(&message, Rate::of_mbps(36).unwrap(), 0b101_1101, &mut right);
    samples.truncate(800);
    samples.extend(right[800..].iter().map(|sample| (sample.re, sample.im)));
    let (bytes, count, _) = received(&signal(&samples), Executor::Inline).unwrap();
    assert_eq!(count, Received { good: 1, bad: 0 });
    assert_eq!(bytes, message[..96]);
}

#[test]
fn without_the_code_as_many_bits_are_wrong_as_theory_says() {
    for (mbps, snr) in [(6, 5.0), (12, 8.0), (24, 14.0), (54, 20.0)] {
        let rate = Rate::of_mbps(mbps).unwrap();
        let counted = error_rate::measure(rate, snr, 1, 1);
        let expected = error_rate::uncoded(rate.modulation(), snr) * counted.coded_bits as f64;
        // Wrong bits of a point are not independent, so the deviation is a little more than the root.
        let deviation = 1.3 * expected.sqrt();
        let off = (counted.wrong_coded as f64 - expected).abs();
        assert!(
            expected > 200.0 && off < 4.0 * deviation,
            "{mbps} Mbit/s: {counted:?}, expected {expected:.0}"
        );
    }
}

#[test]
fn with_the_code_as_many_bits_are_wrong_as_theory_says() {
    // The bound is tight only where few bits are wrong, and wrong bits come in bursts of about ten, so few frames
    // say little. A loss of 0.4 dB would double the share.
    for (mbps, snr) in [(6, 0.0), (18, 5.8)] {
        let rate = Rate::of_mbps(mbps).unwrap();
        let counted = error_rate::measure(rate, snr, 12, 4);
        let bound = error_rate::union_bound(rate, snr) * counted.bits as f64;
        let share = counted.wrong as f64 / bound;
        assert!((0.4..1.7).contains(&share), "{mbps} Mbit/s: {counted:?}, bound {bound:.0}");
    }
}

#[test]
fn the_network_receives_what_the_sequential_form_receives() {
    let bytes = random(40_000, 3);
    let channel = Channel { snr_db: Some(22.0), offset_hz: -70e3, seed: 5, ..Channel::default() };
    // At 22 dB some frames of 54 Mbit/s are bad, and all rates follow one another.
    let sending = Sending { rates: Rate::ALL.to_vec(), payload: 1_500, channel };
    let signal = sent(&bytes, &sending, Executor::Inline);
    let (expected, count, bad) = received(&signal, Executor::Inline).unwrap();
    assert_eq!(count.good + count.bad, 27);
    for workers in 1..=4 {
        assert!(sent(&bytes, &sending, Executor::Workers(workers)) == signal, "{workers} workers");
        let (back, count_back, bad_back) = received(&signal, Executor::Workers(workers)).unwrap();
        assert_eq!((count_back, &bad_back), (count, &bad), "{workers} workers");
        assert!(back == expected, "{workers} workers");
    }
}

#[test]
fn a_bad_frame_is_left_out_and_named() {
    let bytes = random(3 * 300, 4);
    let sending = Sending { payload: 300, ..Sending::new(Rate::of_mbps(24).unwrap()) };
    let mut signal = sent(&bytes, &sending, Executor::Inline);
    let frame = frame_samples(304, sending.rates[0]) + GAP;
    let second = GAP + frame;
    // The middle of the second frame is overwritten.
    signal[(second + frame / 2) * SAMPLE_BYTES..][..100 * SAMPLE_BYTES].fill(0);
    let (back, count, bad) = received(&signal, Executor::Inline).unwrap();
    assert_eq!(count, Received { good: 2, bad: 1 });
    assert_eq!(back, [&bytes[..300], &bytes[600..]].concat());
    assert_eq!((bad[0].index, bad[0].fault), (1, Fault::Check));
    assert!(bad[0].first.abs_diff(second as u64) < 4, "{bad:?}");
    // Without its SIGNAL field.
    signal[(second + 320) * SAMPLE_BYTES..][..80 * SAMPLE_BYTES].fill(0);
    let (_, count, bad) = received(&signal, Executor::Inline).unwrap();
    assert_eq!(count, Received { good: 2, bad: 1 });
    assert!(matches!(bad[0].fault, Fault::Signal(_)), "{bad:?}");
}

#[test]
fn a_cut_signal_gives_its_whole_frames_and_names_the_cut_one() {
    let bytes = random(1_000, 5);
    let sending = Sending { payload: 500, ..Sending::new(Rate::of_mbps(12).unwrap()) };
    let signal = sent(&bytes, &sending, Executor::Inline);
    let frame = frame_samples(504, sending.rates[0]) + GAP;
    for cut in [390, 400, 500, frame - GAP - 10] {
        let signal = &signal[..(GAP + frame + cut) * SAMPLE_BYTES];
        for executor in [Executor::Inline, Executor::Workers(2)] {
            let (back, count, bad) = received(signal, executor).unwrap();
            assert_eq!((count, bad[0].fault), (Received { good: 1, bad: 1 }, Fault::Cut), "cut at {cut}");
            assert_eq!(back, bytes[..500]);
        }
    }
}

#[test]
fn frames_are_found_after_any_gap_and_through_echoes() {
    let echo = |re, im| dsp_transforms::num_complex::Complex32::new(re, im);
    let taps = vec![echo(0.9, 0.1), echo(0.0, 0.0), echo(-0.2, 0.3), echo(0.1, 0.1), echo(0.0, 0.15)];
    let mut signal = Vec::new();
    let mut bytes = Vec::new();
    for part in 0..40 {
        let payload = random(60 + part, part as u64);
        let offset_hz = 10e3 * part as f64 - 200e3;
        let channel = Channel { snr_db: Some(28.0), offset_hz, taps: taps.clone(), seed: part as u64 };
        let sending = Sending { channel, ..Sending::new(Rate::ALL[part % 6]) };
        let frame = sent(&payload, &sending, Executor::Inline);
        // The gap before and behind each frame becomes shorter by another number of samples.
        let less = (part * 37 % 300) * SAMPLE_BYTES;
        signal.extend(&frame[less..frame.len() - less / 2 / SAMPLE_BYTES * SAMPLE_BYTES]);
        bytes.extend(payload);
    }
    let (back, count, bad) = received(&signal, Executor::Inline).unwrap();
    assert_eq!((count, bad), (Received { good: 40, bad: 0 }, vec![]));
    assert!(back == bytes);
}

#[test]
fn signals_without_frames_give_nothing() {
    let tone: Vec<u8> = (0..30_000)
        .flat_map(|n| [(n as f32 * 0.3).cos(), (n as f32 * 0.3).sin()])
        .flat_map(f32::to_le_bytes)
        .collect();
    let large: Vec<u8> = [f32::MAX, f32::MIN].repeat(5_000).into_iter().flat_map(f32::to_le_bytes).collect();
    let noise: Vec<u8> = {
        let mut noise = Noise::new(1, 1);
        (0..100_000)
            .map(|_| noise.sample())
            .flat_map(|sample| [sample.re, sample.im])
            .flat_map(f32::to_le_bytes)
            .collect()
    };
    for signal in [vec![], vec![0; 80_000], tone, large, noise] {
        let (bytes, count, _) = received(&signal, Executor::Workers(2)).unwrap();
        assert_eq!((bytes, count), (vec![], Received::default()));
    }
}

#[test]
fn what_is_no_sample_is_an_error_with_its_offset() {
    let mut signal = vec![0; 8 * 5_000];
    signal[8 * 3_000 + 4..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    for executor in [Executor::Inline, Executor::Workers(2)] {
        let error = received(&signal, executor).unwrap_err();
        assert_eq!(error.offset(), Some(8 * 3_000), "{error}");
        let error = received(&signal[..2_047], executor).unwrap_err();
        assert_eq!(error.offset(), Some(2_040), "{error}");
    }
}

#[test]
fn nothing_is_sent_for_nothing() {
    let signal = sent(b"", &Sending::new(Rate::ALL[0]), Executor::Workers(2));
    assert_eq!(signal.len(), GAP * SAMPLE_BYTES);
    assert_eq!(received(&signal, Executor::Inline).unwrap().0, b"");
    let most = random(MOST_PAYLOAD, 9);
    let signal = sent(&most, &Sending::new(Rate::ALL[7]), Executor::Inline);
    let (back, count, _) = received(&signal, Executor::Inline).unwrap();
    assert!(back == most && count.good == 1);
}

#[test]
fn the_command_names_bad_frames_and_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = random(9_000, 6);
    std::fs::write(folder.path().join("bytes"), &bytes).unwrap();
    let done = dsp(
        &["wifi", "send", "bytes", "signal", "--mbps", "6,54", "--snr", "30", "--seed", "2"],
        folder.path(),
        b"",
    );
    assert!(done.status.success(), "{}", message(&done));
    let done = dsp(&["wifi", "receive", "signal", "-"], folder.path(), b"");
    assert!(done.status.success() && done.stdout == bytes, "{}", message(&done));
    let signal = std::fs::read(folder.path().join("signal")).unwrap();
    std::fs::write(folder.path().join("signal"), &signal[..signal.len() / 2 / SAMPLE_BYTES * SAMPLE_BYTES])
        .unwrap();
    let done = dsp(&["wifi", "receive", "signal", "back"], folder.path(), b"");
    assert_eq!(done.status.code(), Some(1));
    let said = message(&done);
    let lines: Vec<&str> = said.lines().collect();
    assert!(
        lines[0].starts_with("dsp: signal: frame ")
            && lines[0].contains(" is left out: the input ends within it"),
        "{said}"
    );
    assert!(lines[1].ends_with("frames are bad and were left out; the output has the others"), "{said}");
    let back = std::fs::read(folder.path().join("back")).unwrap();
    assert!(back == bytes[..back.len()] && back.len().is_multiple_of(MOST_PAYLOAD));
    let done = dsp(&["wifi", "send", "bytes", "-", "--mbps", "11"], folder.path(), b"");
    assert_eq!(
        message(&done),
        "dsp: 802.11a has no rate of 11 Mbit/s: --mbps must be one of 6, 9, 12, 18, 24, 36, 48, 54\n"
    );
}

/// Changes samples of frames for a quarter of a second, or for `DSP_FUZZ_SECONDS` seconds.
#[test]
fn mutated_signals_do_no_harm() {
    use std::time::{Duration, Instant};
    let seconds = std::env::var("DSP_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let time = seconds.map_or(Duration::from_millis(250), Duration::from_secs);
    let bytes = random(600, 8);
    let signals =
        Rate::ALL.map(|rate| sent(&bytes, &Sending { payload: 300, ..Sending::new(rate) }, Executor::Inline));
    let begin = Instant::now();
    let mut random = Random::new(9);
    // At least this number of signals, however slow the machine is.
    let mut least = 30;
    while least > 0 || begin.elapsed() < time {
        least -= i32::from(least > 0);
        let mut signal = signals[(random.next() >> 8) as usize % 8].clone();
        let words = signal.len() / 4;
        for _ in 0..1 + random.next() % 8 {
            let at = (random.next() >> 8) as usize % words;
            let count = ((random.next() >> 8) as usize % 400).min(words - at);
            for word in signal[4 * at..][..4 * count].as_chunks_mut::<4>().0 {
                let value = f32::from_bits((random.next() >> 24) as u32);
                *word = if value.is_finite() { value } else { 0.0_f32 }.to_le_bytes();
            }
        }
        let (expected, network) =
            (received(&signal, Executor::Inline), received(&signal, Executor::Workers(2)));
        assert!(expected.unwrap() == network.unwrap());
    }
}
