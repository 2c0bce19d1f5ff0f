//! The machine for which a plan is predicted, and what passing items costs on it.

/// The cost of a lane for an item, in nanoseconds of thread time, for both threads together: writing and
/// reading the slot and its stamp, and moving cache lines from core to core.
///
/// It was fitted to measurements of the executor on two cores (`measure/RESULTS.md`: ordered pipelines of two
/// and of four lanes, with items of 55 ns to 100 µs).
pub const LANE_NS: f64 = 12.0;

/// The share of its time that a thread loses because others run at the same time. It comes from the same
/// measurements: at 10 µs an item they reach 98 % of two plain threads.
pub const SHARING: f64 = 0.02;

/// How long a thread that waits for an item still uses a processor, to fall asleep and to be woken, in
/// nanoseconds.
///
/// It was measured on a virtual machine, where this is expensive: a plain loop that sleeps 1,000 times a
/// second uses 3.0 to 3.9 % of a core.
pub const WAKE_NS: f64 = 35_000.0;

/// How much longer the time between two items is, as a share of it, if a serial unit and the workers limit the stream about
/// equally. One of them then sometimes waits for the other. It was measured with a serial stage of 10 µs between parallel
/// stages of 5 µs, with two workers (`measure/RESULTS.md`).
pub const MEETING: f64 = 0.055;

/// The additional share if there are more workers than cores, because the thread that holds up the serial
/// unit may have no core. It comes from the same measurement, with four workers on two cores.
pub const CROWDING: f64 = 0.3;

/// The cost of a firing beside the time of its kernel, in nanoseconds: looking at the records and moving their
/// indices. An estimate for a processor of 2026 and one worker. `anabranch_network::measured_overhead` measures it on the
/// machine of a run.
pub const FIRING_NS: f64 = 22.0;
/// The cost of a turn of a rule beside its firings, in nanoseconds: finding the rule, and handing it on.
/// An estimate, as [`FIRING_NS`].
pub const TURN_NS: f64 = 30.0;

/// The costs of passing items. If the measured costs of the nodes include them, use [`Overhead::NONE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// The thread time for an item and a lane in nanoseconds. Half of it belongs to the giving and half to
    /// the taking unit.
    pub lane: f64,
    /// The share of their time, from 0 to 1, that threads lose because others run at the same time.
    pub sharing: f64,
    /// The processor time for each item that a node waits for, in nanoseconds. At most as long as the node
    /// waits.
    pub wake: f64,
    /// The share of the time, from 0 to 1, that is lost if a serial unit and the workers limit about equally.
    pub meeting: f64,
    /// The share that is lost in addition if there are many more workers than cores.
    pub crowding: f64,
    /// The time of a firing in a network beside that of its kernel, in nanoseconds.
    pub firing: f64,
    /// The time of a turn of a rule in a network beside its firings, in nanoseconds.
    pub turn: f64,
}

impl Overhead {
    /// The overhead of the executor. [`LANE_NS`], [`SHARING`], [`WAKE_NS`], [`MEETING`] and [`CROWDING`] were measured.
    /// For networks, [`FIRING_NS`] and [`TURN_NS`] are estimates.
    pub const MEASURED: Overhead = Overhead {
        lane: LANE_NS,
        sharing: SHARING,
        wake: WAKE_NS,
        meeting: MEETING,
        crowding: CROWDING,
        firing: FIRING_NS,
        turn: TURN_NS,
    };
    /// No overhead: passing items and waiting cost nothing.
    pub const NONE: Overhead =
        Overhead { lane: 0.0, sharing: 0.0, wake: 0.0, meeting: 0.0, crowding: 0.0, firing: 0.0, turn: 0.0 };
}

/// The machine for which a plan is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// How many processors the threads may use. At least 1.
    pub cores: usize,
    /// The costs of passing items on this machine.
    pub overhead: Overhead,
}

impl Machine {
    /// A machine with `cores` processors and the measured overhead.
    pub const fn new(cores: usize) -> Self {
        Machine { cores, overhead: Overhead::MEASURED }
    }

    /// A machine with a processor for each thread, however many there are, and the measured overhead.
    pub const fn ample() -> Self {
        Machine::new(usize::MAX)
    }

    /// The same machine with another overhead.
    pub const fn overhead(self, overhead: Overhead) -> Self {
        Machine { overhead, ..self }
    }
}

/// The [ample](Machine::ample) one.
impl Default for Machine {
    fn default() -> Self {
        Machine::ample()
    }
}
