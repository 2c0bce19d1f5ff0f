//! The micro-bench of *High-level and efficient structured stream parallelism for Rust on multi-cores* (Pieper
//! and others, 2021; sections 4.1 and 4.2).
//!
//! An item is a line of the Mandelbrot set. Two stages compute it, with 60 % and 40 % of the iterations, so the
//! cost of an item depends on how much of its line lies within the set. There are 2,048 items, as in the paper,
//! and at most 500, 5,000 or 50,000 iterations. Lines with more iterations have fewer points here, so that all
//! three workloads take about as long.

mod observed;
mod sequential;

use crate::{About, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The size of the picture.
#[derive(Debug)]
pub struct Input {
    /// The number of lines, which are the items.
    pub rows: usize,
    width: usize,
    iterations: u32,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "micro",
        what: "computes a fractal in two stages with 60 % and 40 % of the work: the micro-bench of the Rust-SSP paper",
        item: "a line of points",
        unit: "lines",
        workloads: &["500", "5000", "50000"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let iterations: u32 = name.parse().ok().filter(|_| Self::ABOUT.workloads.contains(&name))?;
        let points = scale.choose(50_000, 80_000, 500_000) / iterations as usize;
        Some(Self { rows: scale.choose(64, 2_048, 2_048), width: points.clamp(2, 640), iterations })
    }

    fn amount(&self) -> f64 {
        self.rows as f64
    }
}

/// A line of the picture.
#[derive(Debug)]
pub struct Line {
    row: usize,
    /// A byte for each point.
    pub points: Vec<u8>,
}

/// The first parallel stage: 60 % of the iterations.
pub fn fractal_a(input: &Input, row: usize) -> Line {
    let limit = input.iterations / 5 * 3;
    let points = (0..input.width).map(|column| escape(input, row, column, limit) as u8).collect();
    Line { row, points }
}

/// The second parallel stage: 40 % of the iterations.
pub fn fractal_b(input: &Input, mut line: Line) -> Line {
    let limit = input.iterations / 5 * 2;
    for (column, point) in line.points.iter_mut().enumerate() {
        *point ^= (escape(input, line.row, column, limit) >> 3) as u8;
    }
    line
}

/// How many iterations a point takes to leave the circle of radius 2, and at most `limit`.
fn escape(input: &Input, row: usize, column: usize, limit: u32) -> u32 {
    let re = -2.125 + 3.0 * (column as f64 + 0.5) / input.width as f64;
    let im = -1.5 + 3.0 * (row as f64 + 0.5) / input.rows as f64;
    let (mut x, mut y) = (re, im);
    for iteration in 0..limit {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            return iteration;
        }
        (x, y) = (xx - yy + re, 2.0 * x * y + im);
    }
    limit
}
