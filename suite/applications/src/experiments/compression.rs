//! bzip2 and lzip with the settings of SPar: figures 3 and 5 of the paper on SPar and data compression.

use crate::{About, Output, Scale, Workload, bzip2, lzip};

/// Which worker takes which block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// A worker takes the next block when it is free: SPar's `-spar_ondemand`.
    OnDemand,
    /// The workers take blocks in turn.
    Dealt,
}

/// What a thread does that has nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It sleeps: SPar's `-spar_blocking`.
    Park,
    /// It spins.
    Spin,
}

/// What is compressed.
#[derive(Debug)]
enum Data {
    Bzip2(bzip2::Input),
    Lzip(lzip::Input),
}

/// The data and the settings.
#[derive(Debug)]
pub struct Input {
    data: Data,
    /// Which worker takes which block.
    pub schedule: Schedule,
    /// What a thread does that has nothing to do.
    pub wait: Wait,
    /// How many blocks may be between the source and the sink.
    pub window: usize,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "compression",
        what: "compresses blocks with bzip2 or lzip, with a schedule, a way to wait and a window",
        item: "a block",
        unit: "MB",
        workloads: &["bzip2:on-demand:park:8", "lzip:dealt:spin:2"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let [program, schedule, wait, window] = name.split(':').collect::<Vec<_>>()[..] else { return None };
        let data = match program {
            "bzip2" => Data::Bzip2(bzip2::Input::text(scale.choose((1, 2), (1, 12), (2, 32)))),
            "lzip" => Data::Lzip(lzip::Input::generate("text", scale)?),
            _ => return None,
        };
        let schedule = match schedule {
            "on-demand" => Schedule::OnDemand,
            "dealt" => Schedule::Dealt,
            _ => return None,
        };
        let wait = match wait {
            "park" => Wait::Park,
            "spin" => Wait::Spin,
            _ => return None,
        };
        Some(Self { data, schedule, wait, window: window.parse().ok().filter(|&window| window > 0)? })
    }

    fn amount(&self) -> f64 {
        match &self.data {
            Data::Bzip2(input) => input.amount(),
            Data::Lzip(input) => input.amount(),
        }
    }
}

impl Input {
    /// The source: the blocks. Each is a copy, as if it had been read from a file.
    pub fn blocks(&self) -> impl Iterator<Item = Vec<u8>> + Send {
        let blocks: Box<dyn Iterator<Item = &[u8]> + Send> = match &self.data {
            Data::Bzip2(input) => Box::new(input.blocks()),
            Data::Lzip(input) => Box::new(input.blocks()),
        };
        blocks.map(<[u8]>::to_vec)
    }

    /// The parallel stage.
    pub fn compress(&self, block: &[u8]) -> Vec<u8> {
        match &self.data {
            Data::Bzip2(input) => bzip2::compress(input, block),
            Data::Lzip(_) => lzip::compress(block),
        }
    }
}

/// The plain loop.
pub fn sequential(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for block in input.blocks() {
        output.write(&input.compress(&block));
    }
    output
}
