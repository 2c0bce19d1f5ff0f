//! Renders a film on a cluster: a flight into the Mandelbrot set, in the format YUV4MPEG2, which mpv and ffmpeg play.
//!
//!     cargo run --release -p anabranch-cluster --example render -- local film.y4m     renders here
//!     cargo run --release -p anabranch-cluster --example render -- worker             serves programs until SIGTERM
//!     cargo run --release -p anabranch-cluster --example render -- run film.y4m       renders on the workers
//!
//! `ANABRANCH_CLUSTER` is the address of the server. Without it, it is nats://127.0.0.1:4222. Behind `local` and `run`, `--frames N`
//! sets the number of frames, and `--size WIDTHxHEIGHT` their size in pixels. `scripts/cluster.sh` does all of this on one machine.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anabranch::{ReportSlot, Stream};
use anabranch_cluster::{
    ADDRESS, Cluster, ClusterOptions, Error, Functions, Named, RemoteError, Worker, prelude::*,
};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// A frame to be rendered.
#[derive(Debug, Serialize, Deserialize)]
struct Shot {
    number: u32,
    width: u32,
    height: u32,
}

/// A frame: three planes of a byte for each pixel.
#[derive(Debug, Serialize, Deserialize)]
struct Frame {
    planes: Bytes,
}

/// The reason why a frame is not rendered.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Unrendered {
    Empty { number: u32 },
}

impl fmt::Display for Unrendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { number } => write!(f, "frame {number} has no pixel"),
        }
    }
}

impl std::error::Error for Unrendered {}

/// The functions that may run on a worker. The program and the workers are the same file, so they have the same functions.
/// Renders a frame of the film.
const FRAME: Named<Shot, Frame, Unrendered> = Named::new("frame");

fn functions() -> Functions {
    Functions::new("render", env!("CARGO_PKG_VERSION")).function(FRAME, frame)
}

fn frame(shot: Shot) -> Result<Frame, Unrendered> {
    let Shot { number, width, height } = shot;
    if width == 0 || height == 0 {
        return Err(Unrendered::Empty { number });
    }
    // Each frame shows 4 % less than the one before. The centre is on the border of the set.
    let scale = 3.0 * 0.96f64.powi(i32::try_from(number).unwrap_or(i32::MAX)) / f64::from(width);
    let (middle_x, middle_y) = (-0.743_643_887_037_151, 0.131_825_904_205_33);
    let most = 100 + 4 * number;
    let pixels = (width * height) as usize;
    let mut planes = vec![128; 3 * pixels];
    for at in 0..pixels {
        let (column, row) = (at as u32 % width, at as u32 / width);
        let x = middle_x + (f64::from(column) - f64::from(width) / 2.0) * scale;
        let y = middle_y + (f64::from(row) - f64::from(height) / 2.0) * scale;
        if let Some(steps) = steps(x, y, most) {
            let hue = f64::from(steps).sqrt();
            planes[at] = (60.0 + 160.0 * (0.5 + 0.5 * (0.8 * hue).sin())) as u8;
            planes[pixels + at] = (128.0 + 60.0 * (0.37 * hue).cos()) as u8;
            planes[2 * pixels + at] = (128.0 + 60.0 * (0.53 * hue).sin()) as u8;
        } else {
            planes[at] = 16;
        }
    }
    Ok(Frame { planes: planes.into() })
}

/// After how many steps a point leaves the circle of radius 2. `None` if it has not after `most`.
fn steps(x: f64, y: f64, most: u32) -> Option<u32> {
    let (mut a, mut b) = (0.0, 0.0);
    (0..most).find(|_| {
        (a, b) = (a * a - b * b + x, 2.0 * a * b + y);
        a * a + b * b > 4.0
    })
}

/// The failures of a run.
#[derive(Debug)]
pub(crate) enum Failure {
    Usage,
    Cluster(Error),
    Frame(RemoteError<Unrendered>),
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Cluster(error)
    }
}

impl From<RemoteError<Unrendered>> for Failure {
    fn from(error: RemoteError<Unrendered>) -> Self {
        Self::Frame(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => {
                f.write_str("render worker | render local|run FILE [--frames N] [--size WIDTHxHEIGHT]")
            }
            Self::Cluster(error) => error.fmt(f),
            Self::Frame(error) => error.fmt(f),
            Self::Output(error) => write!(f, "the film cannot be written: {error}"),
        }
    }
}

/// A film to be rendered.
struct Film {
    path: String,
    frames: u32,
    width: u32,
    height: u32,
}

impl Film {
    fn from_arguments(arguments: &[String]) -> Option<Self> {
        let (path, mut options) = arguments.split_first()?;
        let mut film = Self { path: path.clone(), frames: 120, width: 640, height: 360 };
        while let [name, value, rest @ ..] = options {
            match name.as_str() {
                "--frames" => film.frames = value.parse().ok()?,
                "--size" => {
                    let (width, height) = value.split_once('x')?;
                    (film.width, film.height) = (width.parse().ok()?, height.parse().ok()?);
                }
                _ => return None,
            }
            options = rest;
        }
        options.is_empty().then_some(film)
    }

    fn render(&self, cluster: &Cluster) -> Result<(), Failure> {
        let Self { path, frames, width, height } = self;
        let frame = cluster.function(&functions(), FRAME)?;
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "YUV4MPEG2 W{width} H{height} F24:1 Ip A1:1 C444")?;
        let shots = (0..*frames).map(|number| Shot { number, width: *width, height: *height });
        let slot = ReportSlot::new();
        let run = Stream::from_iter(shots)
            .window(32) // a frame has some megabytes
            .map_remote(&frame)
            .map_err(Failure::from)
            .report_to(&slot)
            .try_for_each(|frame: Frame| {
                file.write_all(b"FRAME\n")?;
                Ok(file.write_all(&frame.planes)?)
            });
        if let Some(report) = slot.take() {
            eprintln!("{report}");
        }
        run?;
        Ok(file.flush()?)
    }
}

/// Does what the arguments say.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let url = std::env::var(ADDRESS).unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned());
    let options = || ClusterOptions::new().on_event(|event| eprintln!("render: {event}"));
    let (command, rest) = arguments.split_first().ok_or(Failure::Usage)?;
    let film = || Film::from_arguments(rest).ok_or(Failure::Usage);
    match command.as_str() {
        "worker" if rest.is_empty() => Ok(Worker::connect_with(&url, options())?.serve(functions())?),
        "local" => film()?.render(&Cluster::local()),
        "run" => film()?.render(&Cluster::connect_with(&url, options())?),
        _ => Err(Failure::Usage),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("render: {failure}");
            ExitCode::FAILURE
        }
    }
}
