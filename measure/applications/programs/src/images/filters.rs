//! The filters.

/// An image with a red, a green and a blue byte for each pixel.
#[derive(Debug)]
pub struct Image {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<[u8; 3]>,
}

impl Image {
    /// All bytes of the image.
    pub fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    fn each(mut self, filter: impl Fn([u8; 3]) -> [u8; 3]) -> Self {
        self.pixels.iter_mut().for_each(|pixel| *pixel = filter(*pixel));
        self
    }

    /// Weighs each pixel and its eight neighbours. The pixels at the border stay as they are.
    fn around(self, weights: [[i32; 3]; 3]) -> Self {
        let Self { width, height, pixels } = &self;
        let mut result = pixels.clone();
        for y in 1..height.saturating_sub(1) {
            for x in 1..width.saturating_sub(1) {
                let mut sums = [0; 3];
                for (dy, row) in weights.iter().enumerate() {
                    let from = (y + dy - 1) * width + x - 1;
                    for (weight, pixel) in row.iter().zip(&pixels[from..from + 3]) {
                        for (sum, &byte) in sums.iter_mut().zip(pixel) {
                            *sum += weight * i32::from(byte);
                        }
                    }
                }
                result[y * width + x] = sums.map(|sum| sum.clamp(0, 255) as u8);
            }
        }
        Self { pixels: result, ..self }
    }
}

fn brightness([red, green, blue]: [u8; 3]) -> i32 {
    // The weights of ITU-R BT.601, in thousandths.
    (299 * i32::from(red) + 587 * i32::from(green) + 114 * i32::from(blue)) / 1_000
}

/// The first stage: colours become 20 % stronger.
pub fn saturation(image: Image) -> Image {
    image.each(|pixel| {
        let gray = brightness(pixel);
        pixel.map(|byte| (gray + (i32::from(byte) - gray) * 6 / 5).clamp(0, 255) as u8)
    })
}

/// The second stage: light from the upper left.
pub fn emboss(image: Image) -> Image {
    image.around([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])
}

/// The third stage: brighter in the dark, with a gamma of 2.
pub fn gamma(image: Image) -> Image {
    image.each(|pixel| pixel.map(|byte| (u32::from(byte) * 255).isqrt() as u8))
}

/// The fourth stage: stronger edges.
pub fn sharpen(image: Image) -> Image {
    image.around([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])
}

/// The fifth stage: no colours.
pub fn grayscale(image: Image) -> Image {
    image.each(|pixel| [brightness(pixel) as u8; 3])
}
