//! The fate of late items.

/// Takes late items; see [`TimeWindows::on_late`](crate::TimeWindows::on_late).
#[derive(Clone, Copy)]
pub struct OnLate<C>(pub(super) C);

impl<C> std::fmt::Debug for OnLate<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnLate")
    }
}

/// Something that makes the function that takes late items.
pub trait Late<T> {
    /// The function.
    type Call: FnMut(T) + Send;

    /// Makes the function.
    fn call(self) -> Self::Call;
}

/// Late items are dropped.
impl<T> Late<T> for () {
    type Call = fn(T);

    fn call(self) -> fn(T) {
        drop
    }
}

impl<T, C: FnMut(T) + Send> Late<T> for OnLate<C> {
    type Call = C;

    fn call(self) -> C {
        self.0
    }
}
