//! A video whose frames refer to other frames: each is decoded as soon as those that it needs are.
//!
//!     cargo run --release -p anabranch --example frames

use std::sync::Arc;

use anabranch::{Source, Unmet};

/// A frame as it is stored.
#[derive(Debug, Clone)]
pub enum Frame {
    /// The picture itself.
    Whole(Vec<u8>),
    /// The difference to the frame this far before.
    After(u64, Vec<u8>),
    /// The difference to the mean of the frames this far before and this far after.
    Between(u64, u64, Vec<u8>),
}

/// The pixels of a frame.
pub const PIXELS: usize = 4_096;

/// A video in the usual order of display: whole, between, between, after, between, between, after, ...
pub fn video(count: u64) -> Vec<Frame> {
    let change = |n: u64| (0..PIXELS).map(|pixel| (pixel as u64 * n % 7) as u8).collect();
    // The last frames have nothing behind them to lie between.
    let last_anchor = count.saturating_sub(1) / 3 * 3;
    (0..count)
        .map(|n| match n % 12 {
            0 => Frame::Whole(change(n + 1)),
            k if k % 3 == 0 => Frame::After(3, change(n)),
            _ if n > last_anchor => Frame::After(1, change(n)),
            k => Frame::Between(k % 3, 3 - k % 3, change(n)),
        })
        .collect()
}

/// The numbers of the frames that frame `number` needs.
fn needs(number: u64, frame: &Frame) -> Vec<u64> {
    match frame {
        Frame::Whole(_) => vec![],
        Frame::After(before, _) => vec![number - before],
        Frame::Between(before, behind, _) => vec![number - before, number + behind],
    }
}

/// The picture of a frame, made of those that it needs.
fn decode(frame: Frame, others: &[Arc<Vec<u8>>]) -> Vec<u8> {
    let add = |base: u8, change: u8| base.wrapping_add(change);
    match (frame, others) {
        (Frame::Whole(picture) | Frame::After(_, picture) | Frame::Between(_, _, picture), []) => picture,
        (Frame::Whole(change) | Frame::After(_, change) | Frame::Between(_, _, change), [base]) => {
            base.iter().zip(change).map(|(&base, change)| add(base, change)).collect()
        }
        (Frame::Whole(change) | Frame::After(_, change) | Frame::Between(_, _, change), [one, other, ..]) => {
            let means = one.iter().zip(other.iter()).map(|(&one, &other)| one.midpoint(other));
            means.zip(change).map(|(mean, change)| add(mean, change)).collect()
        }
    }
}

/// A number that depends on all pixels.
fn digest(picture: &[u8]) -> u64 {
    picture.iter().fold(0, |digest, &pixel| (digest ^ u64::from(pixel)).wrapping_mul(0x0100_0000_01B3))
}

/// Decodes on all cores.
///
/// # Errors
/// If frames need each other in a cycle, or a frame is missing.
pub fn builder(video: Vec<Frame>) -> Result<Vec<u64>, Unmet> {
    Source::new(video)
        .in_blocks()
        .into_stream()
        .map_dependent(3, needs, decode)
        .map(|picture| digest(&picture))
        .collect()
}

/// Decodes one frame after the other: each when its turn comes, or when another frame needs it.
pub fn sequential(video: Vec<Frame>) -> Vec<u64> {
    fn picture(at: usize, video: &[Frame], pictures: &mut [Option<Arc<Vec<u8>>>]) -> Arc<Vec<u8>> {
        if let Some(picture) = &pictures[at] {
            return Arc::clone(picture);
        }
        let needed = needs(at as u64, &video[at]);
        let others: Vec<_> =
            needed.into_iter().map(|other| picture(other as usize, video, pictures)).collect();
        let decoded = Arc::new(decode(video[at].clone(), &others));
        pictures[at] = Some(Arc::clone(&decoded));
        decoded
    }
    let mut pictures = vec![None; video.len()];
    (0..video.len()).map(|at| digest(&picture(at, &video, &mut pictures))).collect()
}

fn main() -> Result<(), Unmet> {
    let digests = builder(video(600))?;
    println!("{} frames, the last with the digest {:x}", digests.len(), digests.last().unwrap_or(&0));
    Ok(())
}
