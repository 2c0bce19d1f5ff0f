//! A stream of products of small square matrices, as in the papers on FastFlow: 32, 64 or 128 rows.

mod observed;
mod sequential;

use crate::random::Random;
use crate::{About, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The matrices, and how many products are made of them.
#[derive(Debug)]
pub struct Input {
    matrices: Vec<Vec<f32>>,
    rows: usize,
    products: usize,
}

/// The number of rows of the largest matrices.
const MOST_ROWS: usize = 128;

/// How many matrices there are.
const MATRICES: usize = 16;

impl Workload for Input {
    const ABOUT: About = About {
        name: "matmul",
        what: "multiplies small square matrices: a stream of the papers on FastFlow",
        item: "a product of two matrices",
        unit: "products",
        workloads: &["32", "64", "128"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let rows: usize = name.parse().ok().filter(|_| Self::ABOUT.workloads.contains(&name))?;
        let operations = scale.choose(1 << 20, 1 << 27, 1 << 30);
        let mut random = Random::new(13);
        let mut matrix = || (0..rows * rows).map(|_| random.below(2_001) as f32 / 1_000.0 - 1.0).collect();
        let matrices = (0..MATRICES).map(|_| matrix()).collect();
        Some(Self { matrices, rows, products: (operations / rows.pow(3)).max(2) })
    }

    fn amount(&self) -> f64 {
        self.products as f64
    }
}

/// Two matrices to multiply.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    left: &'a [f32],
    right: &'a [f32],
    rows: usize,
}

impl Input {
    /// The source: the pairs.
    pub fn pairs(&self) -> impl Iterator<Item = Pair<'_>> + Send {
        (0..self.products).map(|product| Pair {
            left: &self.matrices[product % MATRICES],
            right: &self.matrices[product / MATRICES % MATRICES],
            rows: self.rows,
        })
    }
}

/// The parallel stage: multiplies two matrices. The result has the bytes of its numbers, row by row.
pub fn multiply(pair: Pair<'_>) -> Vec<u8> {
    let Pair { left, right, rows } = pair;
    let mut product = Vec::with_capacity(rows * rows * 4);
    // Not on the heap: there the sums of two threads may share a cache line.
    let sums = &mut [0.0f32; MOST_ROWS][..rows];
    for row in left.chunks_exact(rows) {
        sums.fill(0.0);
        for (factor, other) in row.iter().zip(right.chunks_exact(rows)) {
            for (sum, value) in sums.iter_mut().zip(other) {
                *sum += factor * value;
            }
        }
        product.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
    }
    product
}
