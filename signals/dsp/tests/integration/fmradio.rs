//! The receiver: the tone that a station sends is heard, in every form of the program, and bad input is reported.

use std::fs;
use std::io::Cursor;

use dsp::fmradio::{BANDS, History, Radio, Tone, receive, test_tone};
use dsp::{Executor, Input, Output, Result, Run};
use dsp_transforms::num_complex::Complex32;
use hound::WavReader;

use crate::command::{dsp, message};

const TONE: Tone = Tone { hertz: 1_000.0, seconds: 0.6, rate: 250_000, snr: None };

fn sent(tone: &Tone) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut output = Output::from_writer("tone", &mut bytes);
    test_tone(&mut output, tone).unwrap();
    output.finish().unwrap();
    bytes
}

fn received(bytes: &[u8], radio: &Radio, executor: Executor) -> Result<Vec<u8>> {
    let mut audio = Vec::new();
    let mut output = Output::from_writer("audio", &mut audio);
    receive(Input::from_reader("samples", bytes), &mut output, radio, &Run::new(executor))?;
    output.finish()?;
    Ok(audio)
}

/// The samples of a WAV file from a pipe.
fn samples(wav: &[u8]) -> Vec<f64> {
    let pairs = wav[44..].chunks_exact(2);
    pairs.map(|pair| f64::from(i16::from_le_bytes(pair.try_into().unwrap()))).collect()
}

/// The powers of the audio at the multiples of `rate` / the number of samples.
fn spectrum(samples: &[f64]) -> Vec<f64> {
    let window = |n: usize| 0.5 - 0.5 * (std::f64::consts::TAU * n as f64 / samples.len() as f64).cos();
    let windowed = samples.iter().enumerate().map(|(n, sample)| (window(n) * sample) as f32);
    let mut values: Vec<Complex32> = windowed.map(Complex32::from).collect();
    dsp_transforms::forward(values.len()).process(&mut values);
    values[..samples.len() / 2].iter().map(|value| f64::from(value.norm_sqr())).collect()
}

/// The frequency of the strongest tone in Hz, and its power over that of everything else to 15 kHz in dB.
fn tone_and_snr(samples: &[f64], rate: f64) -> (f64, f64) {
    // The ends of the signal are no part of the tone.
    let samples = &samples[500..samples.len() - 1_000];
    let powers = spectrum(samples);
    let hertz = rate / samples.len() as f64;
    let last = (15_000.0 / hertz) as usize;
    let peak = (3..last).max_by(|&a, &b| powers[a].total_cmp(&powers[b])).unwrap();
    let tone: f64 = powers[peak - 3..=peak + 3].iter().sum();
    let rest: f64 = powers[3..last].iter().sum::<f64>() - tone;
    (peak as f64 * hertz, 10.0 * (tone / rest).log10())
}

fn radio() -> Radio {
    Radio::new(TONE.rate).unwrap()
}

#[test]
fn tone_is_heard_at_its_frequency_and_without_noise() {
    for (hertz, rate) in [(440.0, 250_000), (1_000.0, 250_000), (3_000.0, 1_024_000), (9_000.0, 300_000)] {
        let radio = Radio::new(rate).unwrap();
        let bytes = sent(&Tone { hertz, rate, ..TONE });
        let audio = samples(&received(&bytes, &radio, Executor::Workers(2)).unwrap());
        let seconds = audio.len() as f64 / f64::from(radio.audio_rate());
        assert!((seconds - TONE.seconds).abs() < 0.001, "{seconds} s");
        let (found, snr) = tone_and_snr(&audio, f64::from(radio.audio_rate()));
        assert!((found - hertz).abs() < 3.0, "sent {hertz} Hz, heard {found} Hz");
        assert!(snr > 45.0, "{hertz} Hz at {rate} samples per second: {snr} dB");
    }
}

#[test]
fn tone_has_the_loudness_of_its_deviation() {
    let radio = radio().de_emphasis(0.0);
    let audio = samples(&received(&sent(&TONE), &radio, Executor::Inline).unwrap());
    let loudest = audio[500..25_000].iter().fold(0f64, |loudest, sample| loudest.max(sample.abs()));
    // The tone has half of the largest deviation.
    assert!((loudest / 32_767.0 - 0.5).abs() < 0.01, "{loudest}");
}

#[test]
fn noise_is_heard_as_noise() {
    let noisy = |snr| {
        let bytes = sent(&Tone { snr: Some(snr), ..TONE });
        tone_and_snr(&samples(&received(&bytes, &radio(), Executor::Inline).unwrap()), 50_000.0)
    };
    let ((loud, loud_snr), (quiet, quiet_snr)) = (noisy(15.0), noisy(25.0));
    assert!((loud - 1_000.0).abs() < 3.0 && (quiet - 1_000.0).abs() < 3.0);
    // Above the threshold of FM, the noise of the audio follows that of the samples.
    assert!((8.0..12.0).contains(&(quiet_snr - loud_snr)), "{loud_snr} dB and {quiet_snr} dB");
}

#[test]
fn equaliser_damps_the_band_of_a_tone_and_no_other() {
    let loudness = |hertz: f64, gains: [f32; BANDS]| {
        let bytes = sent(&Tone { hertz, ..TONE });
        let audio = samples(&received(&bytes, &radio().gains(gains), Executor::Inline).unwrap());
        audio[1_000..20_000].iter().map(|sample| sample * sample).sum::<f64>()
    };
    let damped = |band: usize| std::array::from_fn(|at| if at == band { 0.01 } else { 1.0 });
    let decibels =
        |hertz, band| 10.0 * (loudness(hertz, damped(band)) / loudness(hertz, [1.0; BANDS])).log10();
    assert!(decibels(1_000.0, 2) < -30.0);
    assert!(decibels(1_000.0, 3).abs() < 1.0);
    assert!(decibels(6_000.0, 4) < -35.0);
    assert!(decibels(6_000.0, 2).abs() < 0.1);
}

#[test]
fn network_gives_the_bytes_of_the_sequential_form_in_every_variant() {
    let mut bytes = sent(&Tone { seconds: 0.11, snr: Some(20.0), ..TONE });
    bytes.truncate(bytes.len() - 2 * 77);
    let expected = received(&bytes, &radio(), Executor::Inline).unwrap();
    for radio in [
        radio(),
        radio().burst(1),
        radio().burst(37),
        radio().burst(4_096),
        radio().doubled(true),
        radio().doubled(true).burst(16),
        radio().history(History::Rings),
        radio().history(History::Rings).doubled(true).burst(100),
    ] {
        for executor in [Executor::Inline, Executor::Workers(1), Executor::Workers(2), Executor::Workers(3)] {
            assert!(received(&bytes, &radio, executor).unwrap() == expected, "{radio:?}, {executor:?}");
        }
    }
}

#[test]
fn inputs_of_any_length_give_as_much_audio() {
    let bytes = sent(&TONE);
    for pairs in [0, 1, 4, 5, 6, 639, 640, 641, 12_345] {
        for executor in [Executor::Inline, Executor::Workers(2)] {
            let audio = received(&bytes[..2 * pairs], &radio(), executor).unwrap();
            assert_eq!((audio.len() - 44) / 2, pairs.div_ceil(5), "{pairs} samples, {executor:?}");
        }
    }
}

#[test]
fn a_cut_sample_is_an_error_with_its_offset() {
    let bytes = sent(&TONE);
    for length in [1, 1_281, 10_001] {
        for executor in [Executor::Inline, Executor::Workers(2)] {
            let error = received(&bytes[..length], &radio(), executor).unwrap_err();
            assert_eq!(error.offset(), Some(length as u64 - 1));
            assert!(error.to_string().contains("the input ends within a sample"), "{error}");
        }
    }
}

#[test]
fn any_bytes_give_audio_and_no_panic() {
    let mut state = 1u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let noise: Vec<u8> = (0..20_000).map(|_| byte()).collect();
    for bytes in [vec![0; 20_000], vec![255; 20_000], noise] {
        let radio = radio().gains([10.0; BANDS]);
        let inline = received(&bytes, &radio, Executor::Inline).unwrap();
        assert!(inline == received(&bytes, &radio, Executor::Workers(2)).unwrap());
        assert_eq!(inline.len(), 44 + 2 * 2_000);
    }
}

#[test]
fn rates_that_are_not_possible_are_errors() {
    for rate in [0, 1, 149_999, 20_000_001, u32::MAX] {
        assert!(Radio::new(rate).unwrap_err().to_string().contains("--rate must be from 150000 to 20000000"));
    }
    for rate in [150_000, 199_999, 480_001, 3_200_000, 20_000_000] {
        let radio = Radio::new(rate).unwrap();
        assert!((36_000..72_000).contains(&radio.audio_rate()), "{rate}: {}", radio.audio_rate());
        received(&vec![127; 10_000], &radio, Executor::Workers(2)).unwrap();
    }
}

#[test]
fn command_makes_a_tone_and_a_wav_file_that_readers_understand() {
    let folder = tempfile::tempdir().unwrap();
    let made = dsp(&["fmradio", "--test-tone", "2000", "--seconds", "0.2", "tone.iq"], folder.path(), b"");
    assert!(made.status.success(), "{}", message(&made));
    let heard = dsp(&["fmradio", "tone.iq", "tone.wav", "--rate", "250000"], folder.path(), b"");
    assert!(heard.status.success(), "{}", message(&heard));
    let file = fs::read(folder.path().join("tone.wav")).unwrap();
    let mut reader = WavReader::new(Cursor::new(&file)).unwrap();
    let spec = reader.spec();
    assert_eq!((spec.channels, spec.sample_rate, spec.bits_per_sample), (1, 50_000, 16));
    assert_eq!(reader.len(), 10_000);
    let audio: Vec<f64> = reader.samples::<i16>().map(|sample| f64::from(sample.unwrap())).collect();
    assert!((tone_and_snr(&audio, 50_000.0).0 - 2_000.0).abs() < 7.0);
    // The same through pipes.
    let tone = fs::read(folder.path().join("tone.iq")).unwrap();
    let piped = dsp(&["fmradio", "-", "-", "--inline"], folder.path(), &tone);
    assert_eq!(piped.stdout[44..], file[44..]);
}

#[test]
fn command_refuses_bad_arguments() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), [0; 10]).unwrap();
    for arguments in [
        &["fmradio", "in", "out", "--rate", "1"][..],
        &["fmradio", "in"],
        &["fmradio", "in", "out", "--equaliser", "1,2"],
        &["fmradio", "in", "out", "--equaliser", "0,0,0,0,0,nan"],
        &["fmradio", "in", "out", "--test-tone", "1000"],
        &["fmradio", "out", "--test-tone", "nan"],
        &["fmradio", "out", "--test-tone", "1000", "--seconds", "inf"],
        &["fmradio", "out", "--test-tone", "1000", "--snr", "nan"],
    ] {
        let output = dsp(arguments, folder.path(), b"");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", message(&output));
        assert!(!folder.path().join("out").exists());
    }
}
