//! Five filters for each image, as in the paper on Rust-SSP (sections 4.1 and 4.2): saturation, emboss, gamma,
//! sharpen, grayscale. Images are small (640x427), big (1920x1280) or mixed. They are generated, or they are photographs of
//! real data in these sizes. They stay in memory, so this has the filters without files and JPEG.

mod filters;
mod observed;
mod sequential;

use std::collections::BTreeSet;

use crate::data::PHOTOGRAPHS;
use crate::random::Random;
use crate::{About, Data, Picture, Scale, Workload};

pub use filters::{Image, emboss, gamma, grayscale, saturation, sharpen};
pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The sizes of the images, and what they are made of.
#[derive(Debug)]
pub struct Input {
    sizes: Vec<(usize, usize)>,
    from: From,
}

/// What images are made of.
#[derive(Debug)]
enum From {
    Noise(Vec<u8>),
    /// Each photograph in each of the sizes.
    Photographs(Vec<Vec<Picture>>),
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "images",
        what: "applies five filters to each image, one stage for each filter",
        item: "an image of 640x427 or 1920x1280 (smaller with --quick)",
        unit: "images",
        workloads: &["small", "mixed", "big"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let mut random = Random::new(6);
        let noise = (0..4_096).map(|_| random.below(48) as u8).collect();
        Some(Self { sizes: sizes(name, scale)?, from: From::Noise(noise) })
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        let sizes = sizes(name, scale)?;
        let different: BTreeSet<(usize, usize)> = sizes.iter().copied().collect();
        let photographs = data.pictures(PHOTOGRAPHS, sizes.len(), |photograph| {
            different.iter().map(|&(width, height)| photograph.cover(width, height)).collect()
        });
        Some(photographs.map(|photographs| Self { from: From::Photographs(photographs), sizes }))
    }

    fn amount(&self) -> f64 {
        self.sizes.len() as f64
    }
}

/// The sizes of the images.
fn sizes(name: &str, scale: Scale) -> Option<Vec<(usize, usize)>> {
    let (small, big) =
        scale.choose(((32, 21), (96, 64)), ((160, 106), (480, 320)), ((640, 427), (1_920, 1_280)));
    Some(match name {
        "small" => vec![small; scale.choose(8, 40, 48)],
        "mixed" => (0..scale.choose(6, 16, 10)).map(|at| if at % 2 == 0 { small } else { big }).collect(),
        "big" => vec![big; scale.choose(3, 8, 6)],
        _ => return None,
    })
}

impl Input {
    /// The source: the images. Generated ones have other waves each and some noise.
    pub fn images(&self) -> impl Iterator<Item = Image> + Send {
        self.sizes.iter().enumerate().map(|(number, &(width, height))| {
            let noise = match &self.from {
                From::Noise(noise) => noise,
                From::Photographs(all) => {
                    let photograph = &all[number % all.len()];
                    let fitting = photograph.iter().find(|one| one.width == width).expect("it has each size");
                    return Image { width, height, pixels: fitting.pixels.clone() };
                }
            };
            let mut image = Image { width, height, pixels: Vec::with_capacity(width * height) };
            for y in 0..height {
                image.pixels.extend((0..width).map(|x| {
                    let noise = noise[(x * 31 + y * 17 + number) % noise.len()];
                    let wave = |step: usize| ((x * step + y * (number % 5 + 1)) % 208) as u8 + noise;
                    [wave(1), wave(2), wave(3)]
                }));
            }
            image
        })
    }
}
