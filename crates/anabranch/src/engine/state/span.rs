//! Spans of the `tracing` crate: one for a run, and in it one for each unit. A thread enters the span of a
//! unit for each piece of work. Without the feature `tracing` the functions of this module do nothing.

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

    /// Whether a subscriber listens to the spans.
    pub(crate) fn is_traced() -> bool {
        tracing::enabled!(target: "anabranch", Level::DEBUG)
    }

    impl Spans {
        /// Creates the spans of a plan, if a subscriber listens to them.
        pub(crate) fn of(plan: &Plan) -> Self {
            if !is_traced() {
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

        /// Enters the span of the run on the calling thread, until the guard is dropped.
        pub(crate) fn enter_run(&self) -> Option<Entered<'_>> {
            self.run.as_ref().map(Span::enter)
        }

        /// Enters the span of unit `id` on the calling thread, until the guard is dropped.
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

    /// A guard that does nothing. It is not `()`, because clippy forbids binding that to a name.
    pub(crate) struct Entered;

    pub(crate) fn is_traced() -> bool {
        false
    }

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
pub(crate) use with::{Spans, is_traced};
#[cfg(not(feature = "tracing"))]
pub(crate) use without::{Spans, is_traced};
