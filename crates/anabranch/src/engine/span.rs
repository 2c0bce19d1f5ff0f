//! Spans of the `tracing` crate: one for a run, and in it one for each unit, which a thread enters for each piece of
//! work. Without the feature `tracing` there is nothing of this.

#[cfg(feature = "tracing")]
mod with {
    use anabranch_plan::{Node, Plan};
    use tracing::span::{Entered, Span};
    use tracing::{Level, span};

    /// The spans of a run.
    #[derive(Debug, Default)]
    pub(crate) struct Spans {
        run: Option<Span>,
        /// By the id of each unit's first node.
        units: Vec<Option<Span>>,
    }

    impl Spans {
        /// Those of a plan, if anybody listens.
        pub(crate) fn of(plan: &Plan) -> Self {
            if !tracing::enabled!(target: "anabranch", Level::DEBUG) {
                return Self::default();
            }
            let name = plan.name.as_deref().unwrap_or("anabranch");
            let run = span!(target: "anabranch", Level::DEBUG, "run", title = name, workers = plan.settings.workers);
            let mut units = vec![None; plan.nodes.len()];
            for unit in plan.units() {
                let (name, role) = (Node::unit_name(unit), format!("{:?}", unit[0].role));
                units[unit[0].id.0] = Some(
                    span!(target: "anabranch", parent: &run, Level::DEBUG, "stage", name, role = &*role),
                );
            }
            Self { run: Some(run), units }
        }

        /// The calling thread carries out the run until the guard is dropped.
        pub(crate) fn enter_run(&self) -> Option<Entered<'_>> {
            self.run.as_ref().map(Span::enter)
        }

        /// The calling thread works in unit `id` until the guard is dropped.
        #[inline]
        pub(crate) fn enter(&self, id: usize) -> Option<Entered<'_>> {
            self.units.get(id)?.as_ref().map(Span::enter)
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod without {
    use anabranch_plan::Plan;

    /// No spans.
    #[derive(Debug, Default)]
    pub(crate) struct Spans;

    /// Nothing to leave. (Not `()`, which may not be bound to a name.)
    pub(crate) struct Entered;

    impl Spans {
        pub(crate) fn of(_: &Plan) -> Self {
            Self
        }

        pub(crate) fn enter_run(&self) -> Entered {
            Entered
        }

        #[inline]
        pub(crate) fn enter(&self, _: usize) -> Entered {
            Entered
        }
    }
}

#[cfg(feature = "tracing")]
pub(crate) use with::Spans;
#[cfg(not(feature = "tracing"))]
pub(crate) use without::Spans;
