//! Workers that are started again when they end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::support::{Process, Role};

type Start = dyn Fn(usize) -> Role + Send + Sync;

pub struct Fleet {
    workers: Arc<Mutex<Vec<Process>>>,
    deaths: Arc<AtomicUsize>,
    ends: Arc<AtomicBool>,
    start: Arc<Start>,
    /// The workers that were told to leave, some of which may have left.
    leaving: Mutex<Vec<Process>>,
    keeper: Option<JoinHandle<()>>,
}

impl Fleet {
    /// Starts workers: `start` tells how, with the number of the worker.
    pub fn new(count: usize, start: impl Fn(usize) -> Role + Send + Sync + 'static) -> Self {
        let start: Arc<Start> = Arc::new(start);
        let workers = Arc::new(Mutex::new((0..count).map(|n| start(n).start()).collect::<Vec<_>>()));
        let (deaths, ends) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let keeper = thread::spawn({
            let (workers, deaths) = (Arc::clone(&workers), Arc::clone(&deaths));
            let (ends, start) = (Arc::clone(&ends), Arc::clone(&start));
            move || {
                while !ends.load(Ordering::SeqCst) {
                    for (n, worker) in workers.lock().unwrap().iter_mut().enumerate() {
                        if worker.has_ended() {
                            deaths.fetch_add(1, Ordering::SeqCst);
                            *worker = start(n).start();
                        }
                    }
                    thread::sleep(Duration::from_millis(5));
                }
            }
        });
        Self { workers, deaths, ends, start, leaving: Mutex::default(), keeper: Some(keeper) }
    }

    pub fn workers(&self) -> MutexGuard<'_, Vec<Process>> {
        self.workers.lock().unwrap()
    }

    /// Starts workers, or lets the last ones leave.
    pub fn resize(&self, count: usize) {
        let mut workers = self.workers();
        while workers.len() < count {
            let new = (self.start)(workers.len()).start();
            workers.push(new);
        }
        let mut leaving = self.leaving.lock().unwrap();
        leaving.retain_mut(|worker| !worker.has_ended());
        for worker in workers.drain(count..) {
            worker.signal("TERM");
            // It finishes what it has.
            leaving.push(worker);
        }
    }

    /// How many workers have ended by themselves.
    pub fn deaths(&self) -> usize {
        self.deaths.load(Ordering::SeqCst)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}
