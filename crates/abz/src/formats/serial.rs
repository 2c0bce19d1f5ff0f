//! Formats whose files are one stream that one thread decodes: those of `compress`, `pack` and `compress -H`. zip and
//! zlib files are read this way too.

use std::marker::PhantomData;

use abz_codec::parts;
use anabranch::Recycled;

use super::reads::{Names, Reads};
use crate::decompression::Decompression;
use crate::pipes::decode::{InOrder, Sizes, Steps};
use crate::pipes::inputs::Input;
use crate::pipes::window;
use crate::run_options::Equipment;

/// A format with the decoder `S`.
pub(super) struct Serial<S>(PhantomData<fn() -> S>);

impl<S> Serial<S> {
    pub(super) const NEW: Self = Serial(PhantomData);
}

impl<S: parts::Serial> Serial<S> {
    const NAMES: Names = Names { name: S::NAME, suffix: S::SUFFIX, suffixes: S::SUFFIXES };
}

impl<S: parts::Serial + Default + Send + 'static> Reads for Serial<S> {
    fn names(&self) -> &'static Names {
        &Self::NAMES
    }

    fn magic(&self) -> &'static [u8] {
        S::MAGIC
    }

    fn begins(&self, start: &[u8]) -> bool {
        S::begins(start)
    }

    /// The first step decodes, while other threads read and write.
    fn decode_steps<'a>(&self, how: &Decompression, _: &[u8], equipment: Equipment<'a>) -> Steps<'a> {
        let (workers, window) = (how.workers, window(how.workers));
        let (inputs, buffers) = (equipment.lender.inputs(window), equipment.lender.buffers(window));
        let mut decoder = S::default();
        let inflate = move |input: &mut Input| {
            let mut data = buffers.take();
            let has_data = match input.is_end() {
                true => decoder.finish(&mut data),
                false => input.scan(|bytes| decoder.next(bytes, &mut data)),
            };
            Ok(has_data?.then_some(data))
        };
        let pass_on = |(): &mut (), data: Recycled<Vec<u8>>| Ok(data);
        Steps::new(("inflate", inflate), || (), pass_on, InOrder, Sizes { inputs, workers, window })
    }
}
