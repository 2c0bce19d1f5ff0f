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

    impl Spans {
        /// Creates the spans of a plan, if a subscriber listens to them.
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

        /// Whether a subscriber listens.
        pub(crate) fn are_on(&self) -> bool {
            self.run.is_some()
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

    impl Spans {
        pub(crate) fn of(_: &Plan) -> Self {
            Self
        }

        pub(crate) fn are_on(&self) -> bool {
            false
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
