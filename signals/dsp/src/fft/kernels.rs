//! The computations: a whole transform, and the stages of one that is cut.

use std::f64::consts::TAU;
use std::sync::Arc;

use dsp_transforms::Fft;

use super::Complex;

/// Whole transforms of one size. A copy shares the tables.
#[derive(Clone)]
pub(super) struct Whole {
    fft: Arc<dyn Fft<f32>>,
    scratch: Vec<Complex>,
}

impl Whole {
    pub(super) fn new(size: usize) -> Self {
        let fft = dsp_transforms::forward(size);
        let scratch = vec![Complex::default(); fft.get_immutable_scratch_len()];
        Self { fft, scratch }
    }

    /// Transforms each block of `from` into `to`.
    pub(super) fn transform(&mut self, from: &[Complex], to: &mut [Complex]) {
        self.fft.process_immutable_with_scratch(from, to, &mut self.scratch);
    }
}

/// A transform of `N` = `rows` × `columns` samples that is cut into stages.
///
/// A block is a matrix with `rows` rows of `columns` samples each. The first stage transforms the columns and
/// multiplies each value by its twiddle factor. The second stage transforms the rows. The third stage puts the
/// values in their order.
pub(super) struct Cut {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// exp(-2π i *n* *k* / N), in the order in which the first stage leaves its values: for each column *n*, the
    /// values *k*.
    twiddles: Arc<[Complex]>,
}

impl Cut {
    pub(super) fn new(size: usize) -> Self {
        let rows = 1 << (size.ilog2() / 2);
        let columns = size / rows;
        let twiddle = |n: usize, k: usize| {
            let (sin, cos) = (-TAU * ((n * k) % size) as f64 / size as f64).sin_cos();
            Complex::new(cos as f32, sin as f32)
        };
        let twiddles = (0..columns).flat_map(|n| (0..rows).map(move |k| twiddle(n, k))).collect();
        Self { rows, columns, twiddles }
    }

    /// The first stage.
    pub(super) fn columns(&self) -> Columns {
        Columns {
            rows: self.rows,
            columns: self.columns,
            twiddles: Arc::clone(&self.twiddles),
            whole: Whole::new(self.rows),
            turned: vec![Complex::default(); self.rows * self.columns],
        }
    }

    /// The second stage.
    pub(super) fn rows(&self) -> Rows {
        Rows {
            rows: self.rows,
            columns: self.columns,
            whole: Whole::new(self.columns),
            turned: vec![Complex::default(); self.rows * self.columns],
        }
    }
}

/// Transforms the columns of each block. Its result is turned: a row has what was a column.
pub(super) struct Columns {
    rows: usize,
    columns: usize,
    twiddles: Arc<[Complex]>,
    whole: Whole,
    turned: Vec<Complex>,
}

impl Columns {
    pub(super) fn transform(&mut self, from: &[Complex], to: &mut [Complex]) {
        let size = self.turned.len();
        for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
            transpose::transpose(from, &mut self.turned, self.columns, self.rows);
            self.whole.transform(&self.turned, to);
            to.iter_mut().zip(&*self.twiddles).for_each(|(value, twiddle)| *value *= twiddle);
        }
    }
}

/// Turns each block again, and transforms its rows.
pub(super) struct Rows {
    rows: usize,
    columns: usize,
    whole: Whole,
    turned: Vec<Complex>,
}

impl Rows {
    pub(super) fn transform(&mut self, from: &[Complex], to: &mut [Complex]) {
        let size = self.turned.len();
        for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
            transpose::transpose(from, &mut self.turned, self.rows, self.columns);
            self.whole.transform(&self.turned, to);
        }
    }
}

/// The third stage: the value *i* of row *k* is the value *k* + rows × *i* of the spectrum.
pub(super) fn order(from: &[Complex], to: &mut [Complex], rows: usize, columns: usize) {
    let size = rows * columns;
    for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
        transpose::transpose(from, to, columns, rows);
    }
}
