//! Outputs of firing rules: writers with a rate, and the slots that a firing fills.

use std::fmt;

use crate::record::{TryStallError, port::WritePort};
use anabranch_record::sync::Arc;

use super::{PortInfo, Ports, Readiness, ViewControl};
use crate::network::{
    process::Process,
    queue::RuleLink,
    records::{RecordInfo, Side, Wait},
    writer::{Slots, Writer},
};

/// A writer as an output of a firing rule. [`Writer::produces`] makes it.
pub struct Output<T> {
    writer: Writer<T>,
    produces: usize,
}

impl<T> Writer<T> {
    /// Makes the view an output of a [firing rule](crate::Network::rule). The rule produces `n` items in each
    /// firing.
    pub fn produces(self, n: usize) -> Output<T> {
        Output { writer: self, produces: n }
    }
}

impl<T> ViewControl for Output<T> {
    fn count(&self) -> usize {
        1
    }

    #[inline]
    fn readiness(&mut self) -> Readiness {
        match self.writer.port.try_stall(self.produces).map(drop) {
            Ok(()) => Readiness::Ready,
            Err(TryStallError::Full) => Readiness::Waits(0),
            Err(TryStallError::Closed) => Readiness::Unread,
        }
    }

    fn announce(&mut self, _: usize) {
        self.writer.port.announce();
    }

    fn withdraw(&mut self, _: usize) {
        self.writer.port.withdraw();
    }

    fn wait(&self, port: usize) -> Option<Wait> {
        let handle = &self.writer.handle;
        (port == 0).then(|| Wait {
            record: Arc::clone(&handle.record),
            view: handle.info.index,
            side: Side::Writers,
            count: self.produces,
        })
    }

    fn describe(&self, into: &mut Vec<PortInfo>) {
        into.push(PortInfo {
            record: Arc::clone(&self.writer.handle.record),
            side: Side::Writers,
            rate: self.produces,
            needs: self.produces,
            range: self.writer.handle.range,
        });
    }

    fn attach(&mut self, process: &Process, link: &Arc<RuleLink>) {
        self.writer.handle.give_to(process);
        let is_alone = matches!(self.writer.port, WritePort::One(_));
        self.writer.handle.wait_list.give_to_rule(link, is_alone);
        if self.produces <= self.writer.handle.record.most {
            self.writer.port.widen(self.produces);
        }
    }

    fn set_alone(&mut self, is_inner: &dyn Fn(&RecordInfo) -> bool) {
        if let WritePort::One(view) = &self.writer.port
            && is_inner(&self.writer.handle.record)
        {
            view.set_alone();
        }
    }

    fn notice(&self, process: &Process) {
        let handle = &self.writer.handle;
        process.notice(&handle.network, &handle.record, Side::Readers);
    }
}

impl<T> Ports for Output<T> {
    type Bursts<'a>
        = Fill<'a, T>
    where
        Self: 'a;

    #[inline]
    fn open(&mut self) -> Fill<'_, T> {
        let slots = self.writer.port.try_stall(self.produces).ok();
        Fill { slots, record: &self.writer.handle.record, left: self.produces, surplus: 0 }
    }

    #[inline]
    fn close(fill: Fill<'_, T>) -> Result<(), String> {
        if fill.left > 0 || fill.surplus > 0 {
            return Err(fill.complaint());
        }
        if let Some(slots) = fill.slots {
            slots.commit();
        }
        Ok(())
    }
}

/// The slots of an [`Output`] in a firing. The firing must fill all of them; otherwise the network ends with
/// an error.
pub struct Fill<'a, T> {
    /// `None` if the last reader has closed. Items that are written then are dropped.
    slots: Option<Slots<'a, T>>,
    record: &'a RecordInfo,
    left: usize,
    surplus: usize,
}

impl<T> Fill<'_, T> {
    /// Writes the next item.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.left == 0 {
            self.surplus += 1;
            return;
        }
        self.left -= 1;
        if let Some(slots) = &mut self.slots {
            slots.push(item);
        }
    }

    /// How many slots must still be filled.
    pub fn left(&self) -> usize {
        self.left
    }

    #[cold]
    fn complaint(&self) -> String {
        let record = self.record.title();
        match self.surplus {
            0 => format!("has left {} items of its output, {record}, unwritten in a firing", self.left),
            surplus => format!("has written {surplus} items too many to its output, {record}, in a firing"),
        }
    }
}

impl<T: Copy + Default> Fill<'_, T> {
    /// Calls `f` with slices of all slots of the firing, which it may write in any order, and the position of
    /// each slice's first slot. There are several slices if the slots wrap around the end of the record's
    /// memory. After the call, all slots count as filled. Items that were [pushed](Self::push) before are in
    /// the slices too. If the last reader has closed, `f` is not called.
    pub fn with_slices(&mut self, f: impl FnMut(usize, &mut [T])) {
        self.left = 0;
        if let Some(slots) = &mut self.slots {
            slots.with_slices(f);
        }
    }
}

impl<T> fmt::Debug for Fill<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fill").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Output<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("writer", &self.writer).field("produces", &self.produces).finish()
    }
}
