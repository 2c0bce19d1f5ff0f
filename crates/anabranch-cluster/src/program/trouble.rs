//! The obstacles that keep a run from going on, and when they were told.

use std::time::{Duration, Instant};

use crate::events::Event;
use crate::options::ClusterOptions;

/// The server refuses something: since when, why, and when it was told last.
#[derive(Debug, Default)]
pub(super) struct Trouble(Option<(Instant, String, Instant)>);

impl Trouble {
    /// Tells at once why the run cannot go on, and again after the patience of the options.
    pub(super) fn begin(&mut self, cause: &str, options: &ClusterOptions) {
        let now = Instant::now();
        match &mut self.0 {
            Some((_, told, _)) if told == cause => {}
            Some((since, told, at)) => {
                (*told, *at) = (cause.to_owned(), now);
                let waited = since.elapsed();
                options.events.tell(&Event::ServerRefuses { cause: cause.to_owned(), waited });
            }
            None => {
                self.0 = Some((now, cause.to_owned(), now));
                let event = Event::ServerRefuses { cause: cause.to_owned(), waited: Duration::ZERO };
                options.events.tell(&event);
            }
        }
    }

    pub(super) fn tick(&mut self, options: &ClusterOptions) {
        if let Some((since, cause, told)) = &mut self.0
            && told.elapsed() >= options.patience
        {
            *told = Instant::now();
            let event = Event::ServerRefuses { cause: cause.clone(), waited: since.elapsed() };
            options.events.tell(&event);
        }
    }

    pub(super) fn end(&mut self, options: &ClusterOptions) {
        if self.0.take().is_some() {
            options.events.tell(&Event::ServerAccepts);
        }
    }
}
