//! Answers the lines of a socket on all cores, in the order in which they came, and can be stopped while it waits for a line.
//!
//!     cargo run --release -p anabranch --example echo -- 127.0.0.1:7878
//!
//! Then `nc 127.0.0.1 7878` sends lines. Without an address, the program talks to itself.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use anabranch::Stream;

/// At most this many lines of a connection are worked on at a time.
const LINES: usize = 64;

/// Answers lines until the other side sends no more, or [`stop`] is called. Returns how many lines were answered.
///
/// # Errors
/// If the socket fails.
pub fn answer(socket: &TcpStream) -> io::Result<u64> {
    let mut out = BufWriter::new(socket);
    let mut answered = 0;
    Stream::try_from_iter(BufReader::new(socket).lines())
        .window(LINES)
        .workers(2) // one waits for lines while the other one answers
        .map(|line| line.chars().rev().collect::<String>())
        .ready_chunks(LINES)
        .try_for_each(|answers| {
            for answer in &answers {
                writeln!(out, "{answer}")?;
            }
            answered += answers.len() as u64;
            out.flush() // the answers that are ready: nobody waits for a buffer to fill
        })?;
    Ok(answered)
}

/// Ends [`answer`] on another thread. A stream waits for its source, and the source waits for the socket. So it is the socket
/// that must be closed: then the source sees the end of the lines, and the answers to all earlier lines go out.
///
/// # Errors
/// If the socket is not connected any more.
pub fn stop(socket: &TcpStream) -> io::Result<()> {
    socket.shutdown(Shutdown::Read)
}

/// Sends `lines` to a server that answers on another thread, stops it while it waits for more, and returns the answers.
///
/// # Errors
/// If the sockets fail.
pub fn conversation(lines: &[&str]) -> io::Result<(Vec<String>, u64)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (server, _) = listener.accept()?;
    thread::scope(|scope| {
        let serving = scope.spawn(|| answer(&server));
        for line in lines {
            writeln!(client, "{line}")?;
        }
        let answers = BufReader::new(&client).lines().take(lines.len()).collect::<io::Result<Vec<_>>>()?;
        // The client could send more, so the server waits.
        stop(&server)?;
        let answered = serving.join().expect("the stages do not panic")?;
        Ok((answers, answered))
    })
}

fn main() -> io::Result<()> {
    let Some(address) = std::env::args().nth(1) else {
        let (answers, answered) = conversation(&["a river", "level"])?;
        println!("{answers:?}: {answered} lines");
        return Ok(());
    };
    for socket in TcpListener::bind(&address)?.incoming() {
        let socket = socket?;
        thread::spawn(move || match answer(&socket) {
            Ok(answered) => println!("{answered} lines"),
            Err(error) => println!("{error}"),
        });
    }
    Ok(())
}
