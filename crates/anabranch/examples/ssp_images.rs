//! The first two listings of the paper on Rust-SSP. Replicated stages load images, make them smaller and save
//! them, and the last stage collects their paths. `tests/integration/examples.rs` checks that this agrees
//! with the plain loop.
//!
//! `cargo run --release --example ssp_images [FOLDER]` makes the PPM images of a folder smaller. Without a
//! folder it creates one.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anabranch::ssp::*;
use image::RgbImage;
use image::imageops::{self, FilterType};

/// An image and its path.
type Image = (PathBuf, RgbImage);

/// Loads an image. Returns `None` if the file is not an image.
fn load(path: PathBuf) -> Option<Image> {
    let image = image::open(&path).ok()?;
    Some((path, image.into_rgb8()))
}

fn halve((path, image): Image) -> Image {
    let (width, height) = (image.width().div_ceil(2), image.height().div_ceil(2));
    (path, imageops::resize(&image, width, height, FilterType::Triangle))
}

/// Saves the image next to the original, as `NAME.small.ppm`.
fn save((path, image): Image) -> PathBuf {
    let path = path.with_extension("small.ppm");
    image.save(&path).expect("a file beside the image");
    path
}

struct LoadImage;

impl InOut<PathBuf, Image> for LoadImage {
    fn process(&mut self, path: PathBuf) -> Option<Image> {
        load(path)
    }
}

struct Resize;

impl InOut<Image, Image> for Resize {
    fn process(&mut self, image: Image) -> Option<Image> {
        Some(halve(image))
    }
}

struct SaveToDisk;

impl InOut<Image, PathBuf> for SaveToDisk {
    fn process(&mut self, image: Image) -> Option<PathBuf> {
        Some(save(image))
    }
}

/// Its state is the number of earlier images.
#[derive(Default)]
struct Collector {
    count: usize,
}

impl In<PathBuf, (usize, PathBuf)> for Collector {
    fn process(&mut self, path: PathBuf, _: u64) -> (usize, PathBuf) {
        self.count += 1;
        (self.count, path)
    }
}

/// The plain loop.
pub fn sequential(paths: Vec<PathBuf>) -> Vec<(usize, PathBuf)> {
    let mut saved = Vec::new();
    for path in paths {
        let Some(image) = load(path) else { continue };
        let path = save(halve(image));
        saved.push((saved.len() + 1, path));
    }
    saved
}

/// As in the listing, without order. `sequential_ordered!` would keep the order.
pub fn ssp(paths: Vec<PathBuf>, threads: i32) -> Vec<(usize, PathBuf)> {
    let pipe = pipeline![
        parallel!(LoadImage, threads),
        parallel!(Resize, threads),
        parallel!(SaveToDisk, threads),
        sequential!(Collector::default())
    ];
    for path in paths {
        pipe.post(path).unwrap();
    }
    pipe.collect()
}

/// The files of a folder, sorted by name.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Empties a folder, and creates `count` images of several sizes and one file that is not an image.
pub fn fill(folder: &Path, count: u32) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join("readme.ppm"), "no image")?;
    for n in 0..count {
        let image =
            RgbImage::from_fn(64 + 8 * n, 48, |x, y| image::Rgb([(x * n) as u8, y as u8, (x ^ y) as u8]));
        image.save(folder.join(format!("{n:03}.ppm"))).map_err(io::Error::other)?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => PathBuf::from(folder),
        None => {
            let folder = std::env::temp_dir().join("anabranch-ssp-images");
            fill(&folder, 8)?;
            folder
        }
    };
    for (number, path) in ssp(files(&folder)?, 4) {
        println!("{number:4} {}", path.display());
    }
    Ok(())
}
