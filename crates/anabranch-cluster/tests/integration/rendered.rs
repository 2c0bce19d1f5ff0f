//! The example `render`: a film from workers is that of one process.

use std::fs;
use std::time::Duration;

use anabranch_cluster::ADDRESS;

use crate::support::{Server, have_server, role, within};

#[path = "../../examples/render.rs"]
#[allow(dead_code)]
mod render;

/// The arguments of the example, one a line.
const ARGUMENTS: &str = "ANABRANCH_TEST_ARGUMENTS";

/// Is the example.
pub fn play() {
    let arguments = std::env::var(ARGUMENTS).unwrap();
    let arguments: Vec<String> = arguments.lines().map(str::to_owned).collect();
    render::run(&arguments).unwrap();
}

#[test]
fn a_film_from_workers_is_that_of_one_process() {
    if !have_server() {
        return;
    }
    within(Duration::from_secs(60), || {
        let server = Server::start();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let start = |arguments: &[&str]| {
            let role = role("render", &server.url()).env(ADDRESS, server.url());
            role.env(ARGUMENTS, arguments.join("\n")).start()
        };
        let mut workers = [start(&["worker"]), start(&["worker"])];
        let size = ["--frames", "9", "--size", "64x36"];
        let made = |command: &str, path: &str| {
            let arguments: Vec<&str> = [command, path].into_iter().chain(size).collect();
            assert!(start(&arguments).wait());
            fs::read(path).unwrap()
        };
        let film = made("run", &path("film"));
        assert!(film == made("local", &path("local")));
        let header = "YUV4MPEG2 W64 H36 F24:1 Ip A1:1 C444\n";
        assert!(film.starts_with(header.as_bytes()));
        assert_eq!(film.len(), header.len() + 9 * ("FRAME\n".len() + 3 * 64 * 36));
        for worker in &mut workers {
            worker.signal("TERM");
            assert!(worker.wait());
        }
    });
}
