//! Makes thumbnails of the pictures of a folder on all cores. A picture that cannot be read is told, and the others are made.
//!
//!     cargo run --release -p anabranch --example thumbnails -- FOLDER
//!
//! It reads PPM files. Without a folder it creates one with some pictures.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use anabranch::Stream;
use image::imageops::{self, FilterType};
use image::{ImageError, Rgb, RgbImage};

/// The longest side of a thumbnail, in pixels.
const SIDE: u32 = 32;

/// The pictures of a folder, by their names, without the thumbnails that are there already.
///
/// # Errors
/// If the folder cannot be read.
pub fn pictures(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".ppm") && !name.ends_with(".thumb.ppm")
    });
    paths.sort();
    Ok(paths)
}

fn thumbnail(path: &Path) -> Result<RgbImage, ImageError> {
    let picture = image::open(path)?.into_rgb8();
    let (width, height) = picture.dimensions();
    let by = f64::from(SIDE) / f64::from(width.max(height));
    let side = |pixels: u32| (f64::from(pixels) * by.min(1.0)).ceil() as u32;
    Ok(imageops::resize(&picture, side(width), side(height), FilterType::Triangle))
}

/// The thumbnails that were made, and the pictures of which there is none.
pub type Made = (Vec<PathBuf>, Vec<(PathBuf, ImageError)>);

/// Writes `NAME.thumb.ppm` beside each picture. Returns the thumbnails, and the pictures of which there is none, each in the
/// order of `paths`.
///
/// # Errors
/// If a thumbnail cannot be written. The pictures before it have theirs.
pub fn thumbnails(paths: Vec<PathBuf>) -> io::Result<Made> {
    let (mut made, mut failed) = (Vec::new(), Vec::new());
    Stream::from_iter(paths)
        .window(16) // at most 16 pictures are in memory
        .map(|path| {
            let small = thumbnail(&path);
            (path, small)
        })
        .try_for_each(|(path, small)| match small {
            Ok(small) => {
                let path = path.with_extension("thumb.ppm");
                small.save(&path).map_err(io::Error::other)?;
                made.push(path);
                Ok(())
            }
            // An error of one picture is an item like others, so it does not end the stream.
            Err(error) => {
                failed.push((path, error));
                Ok::<(), io::Error>(())
            }
        })?;
    Ok((made, failed))
}

/// Fills a folder with pictures, and with a file that is none.
///
/// # Errors
/// If a file cannot be written.
pub fn fill(folder: &Path, count: u32) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let pixel = |n: u32| move |x: u32, y: u32| Rgb([(x * n) as u8, (y + n) as u8, (x ^ y) as u8]);
    for n in 1..=count {
        let picture = RgbImage::from_fn(100 + n, 50, pixel(n));
        picture.save(folder.join(format!("{n:03}.ppm"))).map_err(io::Error::other)?;
    }
    fs::write(folder.join("broken.ppm"), "P6 10 10")
}

fn main() -> io::Result<()> {
    let folder = match env::args().nth(1) {
        Some(folder) => PathBuf::from(folder),
        None => {
            let folder = env::temp_dir().join("anabranch-thumbnails");
            fill(&folder, 40)?;
            folder
        }
    };
    let (made, failed) = thumbnails(pictures(&folder)?)?;
    println!("{} thumbnails in {}", made.len(), folder.display());
    for (path, error) in failed {
        println!("{}: {error}", path.display());
    }
    Ok(())
}
