//! Lane detection on the frames of a drive, as in the evaluations of SPar: three parallel stages find the two lines of the
//! lane in each frame, and a serial stage smooths them from frame to frame, so it depends on the order.
//!
//! The frames are drawn: a road with two bright lines that move, and noise. Finding the lines is done as on photographs: the
//! frame is smoothed, its edges are found (I. Sobel, G. Feldman, 1968), and each edge votes for the lines through it (R. Duda,
//! P. Hart, *Use of the Hough transformation to detect lines and curves in pictures*, 1972).

mod observed;
mod sequential;
mod stages;

use crate::random::Random;
use crate::{About, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;
pub use stages::{Edges, Frame, Lane, Lines, edges, lines, smooth};

/// The size of the frames, and their noise.
#[derive(Debug)]
pub struct Input {
    width: usize,
    height: usize,
    frames: usize,
    noise: Vec<u8>,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "lanes",
        what: "finds the lines of the lane in the frames of a drive",
        item: "a frame of 640x360 (320x180 with --quick)",
        unit: "frames",
        workloads: &["drive"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let (width, height) = scale.choose((96, 54), (320, 180), (640, 360));
        let mut random = Random::new(29);
        let noise = (0..8_192).map(|_| random.below(24) as u8).collect();
        let frames = scale.choose(6, 48, 80);
        (name == "drive").then_some(Self { width, height, frames, noise })
    }

    fn amount(&self) -> f64 {
        self.frames as f64
    }
}

impl Input {
    /// The source: draws the frames.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + Send {
        (0..self.frames).map(|number| {
            let Self { width, height, ref noise, .. } = *self;
            // The car swings within its lane.
            let swing = (number as f64 / 9.0).sin() * width as f64 / 16.0;
            let mut pixels = Vec::with_capacity(width * height);
            for y in 0..height {
                // The lines meet at the horizon, a third from above.
                let depth = (y as f64 - height as f64 / 3.0) / (height as f64 * 2.0 / 3.0);
                let center = width as f64 / 2.0 + swing * depth;
                let half = depth * width as f64 * 0.35;
                let thick = 1.0 + depth * width as f64 / 80.0;
                for x in 0..width {
                    let beside = |line: f64| (x as f64 - line).abs() < thick;
                    let light = match depth {
                        _ if depth <= 0.0 => 150,
                        _ if beside(center - half) || beside(center + half) => 225,
                        _ => 70,
                    };
                    pixels.push(light + noise[(x * 13 + y * 37 + number * 101) % noise.len()]);
                }
            }
            Frame::new(width, pixels)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_lane_are_found() {
        let input = Input::generate("drive", Scale::Quick).unwrap();
        let mut lane = Lane::default();
        for (number, frame) in input.frames().enumerate() {
            let found = lines(edges(smooth(frame)));
            let swing = (number as f64 / 9.0).sin() * 20.0;
            // Where the drawn lines are at the lower edge, with half of their thickness.
            for (found, drawn) in
                found.at_bottom().into_iter().zip([160.0 + swing - 112.0, 160.0 + swing + 112.0])
            {
                assert!((found - drawn).abs() < 12.0, "frame {number}: {found} and {drawn}");
            }
            lane.follow(found);
        }
    }
}
