//! A service with a graceful shutdown: clients ask, a stream answers on all cores, and nothing that was accepted is lost.
//!
//!     cargo run --release --example service

use std::sync::mpsc::{self, Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anabranch::{CancelToken, SendError, Sender, Stopped, Stream};

/// A question, and where the answer goes.
struct Request {
    text: String,
    answer: mpsc::Sender<String>,
}

/// A running service. Its clones ask the same stream.
struct Service {
    sender: Sender<Request>,
    token: CancelToken,
    thread: JoinHandle<()>,
}

/// At most this many requests wait before the stream, and as many are answered at a time.
const REQUESTS: usize = 16;

impl Service {
    fn start() -> Self {
        let (sender, requests) = Stream::channel(REQUESTS);
        let token = CancelToken::new();
        let stream = requests.window(REQUESTS).cancel_by(&token).map(|Request { text, answer }| {
            // A client that has gone away does not hear the answer.
            let _ = answer.send(text.to_uppercase());
        });
        let thread = thread::spawn(move || stream.for_each(drop));
        Self { sender, token, thread }
    }

    /// Asks, and waits while the service is busy. Gives the text back if it takes no more requests.
    fn ask(&self, text: &str) -> Result<Receiver<String>, String> {
        let (answer, answered) = channel();
        let posted = self.sender.send(Request { text: text.to_owned(), answer });
        posted.map(|()| answered).map_err(|SendError(request)| request.text)
    }

    /// Refuses new requests, answers the accepted ones, and gives up what takes longer than `limit`. Says how many were
    /// answered, and how many were given up.
    fn shut_down(self, limit: Duration) -> Stopped {
        self.token.drain();
        if self.token.wait(limit).is_none() {
            self.token.cancel();
        }
        self.thread.join().expect("the stages do not panic");
        self.token.stopped().expect("the run was stopped")
    }
}

/// Asks `questions` in as many threads, shuts the service down, and gives the answers.
pub fn answers(questions: &[&str]) -> (Vec<String>, Stopped) {
    let service = Service::start();
    let answers = thread::scope(|scope| {
        let ask = |question: &&str| service.ask(question).expect("the service runs").recv();
        let clients: Vec<_> = questions.iter().map(|question| scope.spawn(move || ask(question))).collect();
        let answers = clients.into_iter().map(|client| client.join().expect("a client"));
        answers.map(|answer| answer.expect("the service answers")).collect()
    });
    (answers, service.shut_down(Duration::from_secs(10)))
}

fn main() {
    let (answers, stopped) = answers(&["down", "the", "river"]);
    println!("{answers:?}: {} answered, {} given up", stopped.delivered, stopped.dropped);
}
