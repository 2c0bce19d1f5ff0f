//! The listings of the paper on Rust-SSP: images are loaded, made smaller and saved, each by a replicated stage, and
//! the last stage collects their names.
//!
//! `cargo run --example ssp_images [FOLDER]` makes the PPM images of a folder (or of one that it fills itself) smaller.

use std::fs;
use std::path::PathBuf;

use anabranch::ssp::*;

/// A picture in memory: three bytes a pixel.
struct Image {
    path: PathBuf,
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

struct LoadImage;

impl InOut<PathBuf, Image> for LoadImage {
    fn process(&mut self, path: PathBuf) -> Option<Image> {
        // What is no image is dropped.
        let bytes = fs::read(&path).ok()?;
        let mut at = 0;
        let mut word = || {
            let rest = &bytes[at..];
            let end = rest.iter().position(u8::is_ascii_whitespace)?;
            at += end + 1;
            std::str::from_utf8(&rest[..end]).ok()
        };
        let (kind, width, height, depth) = (word()?, word()?, word()?, word()?);
        let (width, height) = (width.parse().ok()?, height.parse().ok()?);
        let pixels = bytes[at..].to_vec();
        let is_whole = kind == "P6" && depth == "255" && pixels.len() == 3 * width * height;
        is_whole.then_some(Image { path, width, height, pixels })
    }
}

/// Halves an image: each pixel is the mean of four. Its state is the number of images that this replica has seen.
#[derive(Default)]
struct Resize {
    seen: usize,
}

impl InOut<Image, Image> for Resize {
    fn process(&mut self, image: Image) -> Option<Image> {
        self.seen += 1;
        let (width, height) = (image.width / 2, image.height / 2);
        let old =
            |x: usize, y: usize, color: usize| u32::from(image.pixels[3 * (y * image.width + x) + color]);
        let mean = |x: usize, y: usize, c: usize| {
            let sum = old(x, y, c) + old(x + 1, y, c) + old(x, y + 1, c) + old(x + 1, y + 1, c);
            (sum / 4) as u8
        };
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (2 * x, 2 * y)));
        let pixels = places.flat_map(|(x, y)| [mean(x, y, 0), mean(x, y, 1), mean(x, y, 2)]).collect();
        Some(Image { path: image.path, width, height, pixels })
    }
}

struct SaveToDisk;

impl InOut<Image, PathBuf> for SaveToDisk {
    fn process(&mut self, image: Image) -> Option<PathBuf> {
        let path = image.path.with_extension("small.ppm");
        let mut bytes = format!("P6 {} {} 255\n", image.width, image.height).into_bytes();
        bytes.extend(&image.pixels);
        fs::write(&path, bytes).expect("a file beside the image");
        Some(path)
    }
}

#[derive(Default)]
struct Collector {
    count: u64,
}

impl In<PathBuf, String> for Collector {
    fn process(&mut self, path: PathBuf, order: u64) -> String {
        self.count += 1;
        format!("{} images; the {order}th is {}", self.count, path.display())
    }
}

fn main() {
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => PathBuf::from(folder),
        None => filled(),
    };
    let threads = 4;
    let pipe = pipeline![
        parallel!(LoadImage, threads),
        parallel!(Resize::default(), threads),
        parallel!(SaveToDisk, threads),
        sequential!(Collector::default())
    ];
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        pipe.post(entry.path()).unwrap();
    }
    for line in pipe.collect() {
        println!("{line}");
    }
}

/// A folder with some images.
fn filled() -> PathBuf {
    let folder = std::env::temp_dir().join("anabranch-ssp-images");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    for n in 0..8usize {
        let (width, height) = (64 + 8 * n, 48);
        let mut image = format!("P6 {width} {height} 255\n").into_bytes();
        image.extend((0..3 * width * height).map(|at| (at * (n + 1)) as u8));
        fs::write(folder.join(format!("{n}.ppm")), image).expect("a file in that folder");
    }
    folder
}
