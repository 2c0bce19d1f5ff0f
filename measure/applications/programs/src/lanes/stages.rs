//! The stages.

use std::f64::consts::PI;

/// A frame in shades of gray.
#[derive(Debug)]
pub struct Frame {
    width: usize,
    pixels: Vec<u8>,
}

impl Frame {
    /// The size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.pixels.len()
    }

    /// A frame of these rows of pixels.
    pub fn new(width: usize, pixels: Vec<u8>) -> Self {
        Self { width, pixels }
    }

    fn height(&self) -> usize {
        self.pixels.len() / self.width
    }
}

/// The first parallel stage: the mean of each pixel and its neighbours, weighed by 1, 2, 1 in both directions.
pub fn smooth(frame: Frame) -> Frame {
    let (width, from) = (frame.width, &frame.pixels);
    let mut rows: Vec<u16> = from.iter().map(|&pixel| u16::from(pixel) * 4).collect();
    for (row, into) in from.chunks_exact(width).zip(rows.chunks_exact_mut(width)) {
        for (three, into) in row.windows(3).zip(&mut into[1..]) {
            *into = u16::from(three[0]) + 2 * u16::from(three[1]) + u16::from(three[2]);
        }
    }
    let mut pixels = from.clone();
    for y in 1..frame.height() - 1 {
        for x in 0..width {
            let at = y * width + x;
            pixels[at] = ((rows[at - width] + 2 * rows[at] + rows[at + width]) / 16) as u8;
        }
    }
    Frame { width, pixels }
}

/// The pixels at which the light changes, below the horizon.
#[derive(Debug)]
pub struct Edges {
    width: usize,
    height: usize,
    at: Vec<(u16, u16)>,
}

impl Edges {
    /// The size in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.at[..])
    }
}

/// The second parallel stage: finds edges by the operator of Sobel.
pub fn edges(frame: Frame) -> Edges {
    const LEAST: i32 = 160;
    let (width, height) = (frame.width, frame.height());
    let mut at = Vec::new();
    for y in height / 3 + 2..height - 1 {
        for x in 1..width - 1 {
            let pixel = |dx: usize, dy: usize| i32::from(frame.pixels[(y + dy - 1) * width + x + dx - 1]);
            let across =
                pixel(2, 0) + 2 * pixel(2, 1) + pixel(2, 2) - pixel(0, 0) - 2 * pixel(0, 1) - pixel(0, 2);
            let down =
                pixel(0, 2) + 2 * pixel(1, 2) + pixel(2, 2) - pixel(0, 0) - 2 * pixel(1, 0) - pixel(2, 0);
            if across.abs() + down.abs() >= LEAST {
                at.push((x as u16, y as u16));
            }
        }
    }
    Edges { width, height, at }
}

/// A line on each side: where it is at the middle and at the lower edge of the frame, in pixels from the left.
#[derive(Debug, Clone, Copy)]
pub struct Lines {
    middle: [f64; 2],
    bottom: [f64; 2],
}

impl Lines {
    /// Where the left and the right line are at the lower edge.
    pub fn at_bottom(&self) -> [f64; 2] {
        self.bottom
    }
}

/// The third parallel stage: the line with the most votes on each side, by the transformation of Hough. A line is the angle of
/// its normal and its distance from the upper left corner.
pub fn lines(edges: Edges) -> Lines {
    const ANGLES: usize = 180;
    let Edges { width, height, at } = edges;
    let longest = (width as f64).hypot(height as f64) as usize + 1;
    let angle = |index: usize| index as f64 * PI / ANGLES as f64;
    let directions: Vec<(f64, f64)> =
        (0..ANGLES).map(|index| (angle(index).cos(), angle(index).sin())).collect();
    let mut votes = vec![0u32; ANGLES * 2 * longest];
    for &(x, y) in &at {
        for (index, (cos, sin)) in directions.iter().enumerate() {
            let distance = f64::from(x) * cos + f64::from(y) * sin;
            votes[index * 2 * longest + (distance + longest as f64) as usize] += 1;
        }
    }
    // The left line leans to the right, and the right line to the left. Neither is nearly flat or upright.
    let best = |angles: std::ops::Range<usize>| {
        let of = |index: usize| votes[index * 2 * longest..(index + 1) * 2 * longest].iter().enumerate();
        let all = angles.flat_map(|index| of(index).map(move |(at, votes)| (*votes, index, at)));
        // Among equal lines, the first one.
        let (_, index, at) = all.fold((0, 0, 0), |most, one| if one.0 > most.0 { one } else { most });
        let ((cos, sin), distance) = (directions[index], at as f64 - longest as f64 + 0.5);
        move |y: f64| (distance - y * sin) / cos
    };
    let (left, right) = (best(15..75), best(105..165));
    let at_height = |y: f64| [left(y), right(y)];
    Lines { middle: at_height(height as f64 / 2.0), bottom: at_height(height as f64) }
}

/// The serial stage: the lane, which follows the lines slowly.
#[derive(Debug, Default)]
pub struct Lane {
    now: Option<[f64; 4]>,
}

impl Lane {
    /// Moves by a fifth of the way to new lines. Returns the lane as bytes: the position of both lines at the middle and at the
    /// lower edge, in 256ths of a pixel.
    pub fn follow(&mut self, lines: Lines) -> [u8; 16] {
        let ([a, b], [c, d]) = (lines.middle, lines.bottom);
        let new = [a, b, c, d];
        let old = self.now.unwrap_or(new);
        let now = std::array::from_fn(|at| old[at] + (new[at] - old[at]) / 5.0);
        self.now = Some(now);
        let mut bytes = [0; 16];
        for (into, position) in bytes.chunks_exact_mut(4).zip(now) {
            into.copy_from_slice(&((position * 256.0) as i32).to_le_bytes());
        }
        bytes
    }
}
