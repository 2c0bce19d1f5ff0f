//! What applications have in common.

use crate::{
    Data, bunzip2, bzip2, dedup, eyes, farm, fastq, files, gzip, images, lanes, log, lunzip, lzip, matmul,
    micro, radio, similarity, sink, words,
};

/// How large the data are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// For tests: milliseconds in a debug build.
    Tiny,
    /// For a first look: the sequential program takes about 50 ms.
    Quick,
    /// For a report: the sequential program takes from 0.2 s to 1 s.
    Full,
}

impl Scale {
    /// The scale with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Tiny, Self::Quick, Self::Full].into_iter().find(|scale| scale.name() == name)
    }

    /// The name of the scale.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }

    /// The value of this scale.
    pub fn choose<T>(self, tiny: T, quick: T, full: T) -> T {
        match self {
            Self::Tiny => tiny,
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// The data of an application.
pub trait Workload: Sync + Sized + 'static {
    /// The application's description.
    const ABOUT: About;

    /// Generates the data. `None` if the application has no workload of this name.
    fn generate(name: &str, scale: Scale) -> Option<Self>;

    /// Makes the data of real ones, in the same number of items and of the same size. `None` if there are no real data for
    /// this workload.
    fn read(_name: &str, _scale: Scale, _data: &Data) -> Option<Result<Self, String>> {
        None
    }

    /// Makes the data of real ones if there are any, and generates them otherwise. `None` if the application has no workload
    /// of this name.
    ///
    /// # Errors
    /// If a file of the real data is missing or cannot be read.
    fn prepare(name: &str, scale: Scale, data: Option<&Data>) -> Result<Option<Self>, String> {
        match data.and_then(|data| Self::read(name, scale, data)) {
            Some(read) => read.map(Some),
            None => Ok(Self::generate(name, scale)),
        }
    }

    /// How much there is to do, in the unit of [`About::unit`].
    fn amount(&self) -> f64;
}

/// The description of an application.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The name on the command line.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub what: &'static str,
    /// What an item is.
    pub item: &'static str,
    /// The unit of its amount of work.
    pub unit: &'static str,
    /// The names of its workloads.
    pub workloads: &'static [&'static str],
}

/// All applications.
pub const APPLICATIONS: [About; 19] = [
    micro::Input::ABOUT,
    images::Input::ABOUT,
    bzip2::Input::ABOUT,
    bunzip2::Input::ABOUT,
    files::Input::ABOUT,
    dedup::Input::ABOUT,
    log::Input::ABOUT,
    fastq::Input::ABOUT,
    gzip::Input::ABOUT,
    lzip::Input::ABOUT,
    lunzip::Input::ABOUT,
    words::Input::ABOUT,
    lanes::Input::ABOUT,
    eyes::Input::ABOUT,
    radio::Input::ABOUT,
    similarity::Input::ABOUT,
    matmul::Input::ABOUT,
    farm::Input::ABOUT,
    sink::Input::ABOUT,
];
