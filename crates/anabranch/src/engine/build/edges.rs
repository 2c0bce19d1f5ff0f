//! Joins the nodes of a line, as the edges of the plan say: by a call, or through a lane.

use anabranch_plan::{EdgeKind, NodeId};
use anabranch_record::lane::Domain;

use super::assembly::Assembly;
use super::consumer::{Consumer, End};
use crate::engine::nodes::head::Head;
use crate::engine::nodes::input::{Input, Lane};
use crate::engine::nodes::step::Out;

impl<'run> Assembly<'run> {
    /// Joins serial node `giver` to `consumer`, as the plan says: by a call, or through a lane that the consumer
    /// reads. Returns the output of the giver.
    pub(crate) fn after_serial<S: Send + 'run>(
        &mut self,
        giver: usize,
        consumer: Consumer<'run, S>,
    ) -> Out<'run, S> {
        let edge =
            self.plan.edge(NodeId(giver), NodeId(consumer.id)).expect("the plan joins what the code joins");
        let is_call = edge.kind == EdgeKind::Call;
        let consumer = match consumer {
            Consumer { end: End::Serial(step), .. } if is_call => return Out::Call(step),
            consumer => consumer,
        };
        let event = self.event_of(consumer.id);
        let (writer, lane) = Domain::lane(self.indices_at(giver));
        self.read(consumer, Lane::Committed(lane));
        Out::Lane(writer, event)
    }

    /// Makes `consumer` read `lane`.
    pub(crate) fn read<S: Send + 'run>(&mut self, consumer: Consumer<'run, S>, lane: Lane<S>) {
        let Consumer { id, end } = consumer;
        match end {
            End::Lane(read) => read(self, lane),
            End::Parallel(stage) => {
                let Lane::Committed(lane) = lane else {
                    unreachable!(
                        "the node before a parallel unit is serial, because parallel stages are composed"
                    )
                };
                let (dealer, outlet) = lane.dealer();
                stage.unit(self, dealer, outlet);
            }
            End::Direct(_) => unreachable!("a direct line has no lanes"),
            End::Serial(unit) => {
                let (input, word) = match lane {
                    Lane::Committed(lane) => (Input::Ordered(lane.reader()), None),
                    Lane::Stamped(lane) => (Input::Ordered(lane.reader()), None),
                    Lane::Arrived(_) => {
                        let crossing = self.crossing(id);
                        let drain = self.drain_before(id, lane);
                        (Input::arrivals(drain, self.indices_of(id), crossing), Some(self.word_of(id)))
                    }
                };
                let is_sink = self.ends_with_sink(id);
                let queue = self.queue.clone().filter(|_| is_sink);
                let head = Head::new(self.site(id), input, unit, word, is_sink, queue);
                self.serial(id, head);
            }
        }
    }
}
