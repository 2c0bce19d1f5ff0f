//! bzip2 and lzip with the settings of SPar: figures 3 and 5 of the paper on SPar and data compression.

use crate::{About, Data, Output, Scale, Workload, bzip2, lzip};

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
enum Compressed {
    Bzip2(bzip2::Input),
    Lzip(lzip::Input),
}

/// The data and the settings.
#[derive(Debug)]
pub struct Input {
    data: Compressed,
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
        Self::of(name, scale, None).ok()?
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        Self::of(name, scale, Some(data)).transpose()
    }

    fn amount(&self) -> f64 {
        match &self.data {
            Compressed::Bzip2(input) => input.amount(),
            Compressed::Lzip(input) => input.amount(),
        }
    }
}

impl Input {
    /// The settings that a name has, with generated or real data. `None` if the name is not one of a workload.
    fn of(name: &str, scale: Scale, real: Option<&Data>) -> Result<Option<Self>, String> {
        let [program, schedule, wait, window] = name.split(':').collect::<Vec<_>>()[..] else {
            return Ok(None);
        };
        let sizes = scale.choose((1, 2), (1, 12), (2, 32));
        let data = match program {
            "bzip2" => bzip2::Input::of("text", sizes, real).transpose()?.map(Compressed::Bzip2),
            "lzip" => lzip::Input::prepare("text", scale, real)?.map(Compressed::Lzip),
            _ => None,
        };
        let schedule = match schedule {
            "on-demand" => Some(Schedule::OnDemand),
            "dealt" => Some(Schedule::Dealt),
            _ => None,
        };
        let wait = match wait {
            "park" => Some(Wait::Park),
            "spin" => Some(Wait::Spin),
            _ => None,
        };
        let window = window.parse().ok().filter(|&window| window > 0);
        let all = data.zip(schedule).zip(wait).zip(window);
        Ok(all.map(|(((data, schedule), wait), window)| Self { data, schedule, wait, window }))
    }

    /// The source: the blocks. Each is a copy, as if it had been read from a file.
    pub fn blocks(&self) -> impl Iterator<Item = Vec<u8>> + Send {
        let blocks: Box<dyn Iterator<Item = &[u8]> + Send> = match &self.data {
            Compressed::Bzip2(input) => Box::new(input.blocks()),
            Compressed::Lzip(input) => Box::new(input.blocks()),
        };
        blocks.map(<[u8]>::to_vec)
    }

    /// The parallel stage.
    pub fn compress(&self, block: &[u8]) -> Vec<u8> {
        match &self.data {
            Compressed::Bzip2(input) => bzip2::compress(input, block),
            Compressed::Lzip(_) => lzip::compress(block),
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
