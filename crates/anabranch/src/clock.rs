//! Clocks of the executors, in nanoseconds. They are read a few times a claim, or for some of the items of a direct line.

/// A moment.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    #[cfg(not(any(loom, shuttle)))]
    at: std::time::Instant,
}

impl Moment {
    #[inline]
    /// The present.
    pub fn now() -> Self {
        Self {
            #[cfg(not(any(loom, shuttle)))]
            at: std::time::Instant::now(),
        }
    }

    /// The time from `earlier` to this moment, in nanoseconds; 0 if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Moment) -> u64 {
        #[cfg(not(any(loom, shuttle)))]
        return self.at.saturating_duration_since(earlier.at).as_nanos() as u64;
        #[cfg(any(loom, shuttle))]
        {
            let Moment {} = earlier;
            0
        }
    }

    /// The time since this moment, in nanoseconds. Under a model checker it is always 0, so that runs can be
    /// repeated.
    #[inline]
    pub fn elapsed(self) -> u64 {
        #[cfg(not(any(loom, shuttle)))]
        return self.at.elapsed().as_nanos() as u64;
        #[cfg(any(loom, shuttle))]
        0
    }
}

/// How long the calling thread has had a processor, in nanoseconds. `None` where the system does not tell it.
#[cfg(all(target_os = "linux", not(portable), not(any(loom, shuttle))))]
pub(crate) fn processor_time() -> Option<u64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(u64::try_from(time.tv_sec).ok()? * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?)
}

#[cfg(not(all(target_os = "linux", not(portable), not(any(loom, shuttle)))))]
pub(crate) fn processor_time() -> Option<u64> {
    None
}

/// How long the calling thread has been ready to run without a processor, in nanoseconds, since it was created. `None` where the
/// system does not tell it. Opening and reading the file takes some microseconds.
#[cfg(all(target_os = "linux", not(portable), not(any(loom, shuttle))))]
pub(crate) fn run_delay() -> Option<u64> {
    use std::io::Read;

    // Three numbers: the time on a processor, the time ready without one, and how often the thread was given one (the kernel's
    // Documentation/scheduler/sched-stats.rst). A kernel that does not count says that this thread was never given one.
    let mut text = [0; 64];
    let len =
        std::fs::File::open("/proc/thread-self/schedstat").and_then(|mut file| file.read(&mut text)).ok()?;
    let mut numbers = std::str::from_utf8(&text[..len]).ok()?.split_ascii_whitespace().skip(1);
    let (delay, turns) = (numbers.next()?.parse().ok()?, numbers.next()?);
    (turns != "0").then_some(delay)
}

#[cfg(not(all(target_os = "linux", not(portable), not(any(loom, shuttle)))))]
pub(crate) fn run_delay() -> Option<u64> {
    None
}

/// A running mean of the nanoseconds that an item takes. Each new measurement has a weight of one quarter. 0
/// means that nothing was measured yet.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mean(u64);

/// How many bits of a mean are a fraction of a nanosecond. They keep means of a few nanoseconds precise.
const FRACTION_BITS: u32 = 8;

impl Mean {
    /// The mean whose bits were stored in an atomic.
    #[inline]
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) fn is_known(self) -> bool {
        self.0 != 0
    }

    /// Adds a measurement: `items` items took `nanos` nanoseconds together.
    #[inline]
    pub(crate) fn update(&mut self, nanos: u64, items: u64) {
        if items == 0 {
            return;
        }
        let new = ((nanos << FRACTION_BITS) / items).max(1);
        self.0 = if self.0 == 0 { new } else { (3 * self.0 + new) / 4 };
    }

    /// How many items `nanos` nanoseconds are enough for, rounded down; at least 1.
    #[inline]
    pub(crate) fn items_in(self, nanos: u64) -> u64 {
        ((nanos << FRACTION_BITS) / self.0.max(1)).max(1)
    }

    /// The mean in nanoseconds, rounded down.
    #[inline]
    pub(crate) fn nanos(self) -> u64 {
        self.0 >> FRACTION_BITS
    }
}
