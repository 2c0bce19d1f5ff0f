//! The cost of handing items from one core to another.

/// Cores are alike if the slowest pair takes at most this many times as long as the fastest pair to hand over a cache
/// line.
const ALIKE: f64 = 1.5;

/// The cores of a machine, and what it costs to hand a cache line from one to another.
///
/// `anabranch_network::measured_cores` measures it on the machine of the program.
///
/// ```
/// use anabranch_network::plan::Cores;
///
/// // Two pairs of cores: a pair shares a cache.
/// let cost = |a: usize, b: usize| if a / 2 == b / 2 { 40.0 } else { 200.0 };
/// let cores = Cores::new(4, cost);
/// assert!(!cores.are_alike());
/// assert!(Cores::new(4, |_, _| 50.0).are_alike());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cores {
    count: usize,
    /// For each core, the costs to all cores, in nanoseconds.
    costs: Vec<f64>,
}

impl Cores {
    /// Cores with these costs in nanoseconds, which are the same in both directions: `cost` is called with a lower and a higher
    /// number. A cost that is no positive number counts as 0.
    pub fn new(count: usize, mut cost: impl FnMut(usize, usize) -> f64) -> Self {
        let mut costs = vec![0.0; count * count];
        for a in 0..count {
            for b in a + 1..count {
                let cost = cost(a, b).max(0.0);
                costs[a * count + b] = cost;
                costs[b * count + a] = cost;
            }
        }
        Cores { count, costs }
    }

    /// Cores of which nothing is known. They are taken to be alike.
    pub fn unknown() -> Self {
        Cores { count: 0, costs: Vec::new() }
    }

    /// How many cores there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The cost of handing a cache line from one core to another, in nanoseconds. 0 for one and the same core, and for a core that
    /// is not there.
    pub fn cost(&self, from: usize, to: usize) -> f64 {
        if from.max(to) < self.count { self.costs[from * self.count + to] } else { 0.0 }
    }

    /// The least and the greatest cost between two cores. `None` if there are fewer than two.
    pub fn range(&self) -> Option<(f64, f64)> {
        let pairs = (0..self.count).flat_map(|a| (0..a).map(move |b| (a, b)));
        pairs.map(|(a, b)| self.cost(a, b)).fold(None, |range, cost| {
            let (least, most) = range.unwrap_or((cost, cost));
            Some((f64::min(least, cost), f64::max(most, cost)))
        })
    }

    /// Whether the choice of the cores hardly matters: no pair of cores takes more than 1.5 times as long as
    /// another pair.
    pub fn are_alike(&self) -> bool {
        self.range().is_none_or(|(least, most)| most <= ALIKE * least)
    }
}
