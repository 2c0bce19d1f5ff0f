//! Time, as far as the executors look at it: in nanoseconds, a few times a claim.

/// A moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    #[cfg(not(any(loom, shuttle)))]
    at: std::time::Instant,
}

impl Moment {
    #[inline]
    pub(crate) fn now() -> Self {
        Self {
            #[cfg(not(any(loom, shuttle)))]
            at: std::time::Instant::now(),
        }
    }

    /// Nanoseconds from an earlier moment to this one.
    #[inline]
    pub(crate) fn since(self, earlier: Moment) -> u64 {
        #[cfg(not(any(loom, shuttle)))]
        return self.at.saturating_duration_since(earlier.at).as_nanos() as u64;
        #[cfg(any(loom, shuttle))]
        {
            let Moment {} = earlier;
            0
        }
    }

    /// Nanoseconds since this moment. Under a model checker no time ever passes, so that runs can be repeated.
    #[inline]
    pub(crate) fn elapsed(self) -> u64 {
        #[cfg(not(any(loom, shuttle)))]
        return self.at.elapsed().as_nanos() as u64;
        #[cfg(any(loom, shuttle))]
        0
    }
}

/// How long the calling thread has had a processor, in nanoseconds, where the system tells.
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
pub(crate) fn processor_time() -> Option<u64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(u64::try_from(time.tv_sec).ok()? * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?)
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
pub(crate) fn processor_time() -> Option<u64> {
    None
}

/// A running mean of nanoseconds an item: three parts old, one part new. 0 means not yet measured.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mean(u64);

/// The fraction bits of a mean, so that means of a few nanoseconds keep their precision.
const FRACTION: u32 = 8;

impl Mean {
    /// A mean kept as its bits in an atomic.
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

    /// Takes in `items` that took `nanos` in all.
    #[inline]
    pub(crate) fn update(&mut self, nanos: u64, items: u64) {
        if items == 0 {
            return;
        }
        let new = ((nanos << FRACTION) / items).max(1);
        self.0 = if self.0 == 0 { new } else { (3 * self.0 + new) / 4 };
    }

    /// How many items of this mean take `nanos`, rounded down; at least 1.
    #[inline]
    pub(crate) fn items_in(self, nanos: u64) -> u64 {
        ((nanos << FRACTION) / self.0.max(1)).max(1)
    }

    /// Nanoseconds an item, rounded down.
    #[inline]
    pub(crate) fn nanos(self) -> u64 {
        self.0 >> FRACTION
    }
}
