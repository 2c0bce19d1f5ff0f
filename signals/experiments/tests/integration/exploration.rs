//! The synthetic benchmark: every shape gives the sums of the loop.

use anabranch_network::plan::Role;
use signals::exploration::{Cell, Shape, Table, Task, Work, measure, network, plan, sequential};

use crate::experiments::{said, signals};

fn task(shape: Shape, burst: usize) -> Task {
    Task { shape, work: Work::of_rounds(1), indices: 3_000, burst, horizon: 64, is_pinned: false }
}

#[test]
fn network_gives_the_sums_of_the_loop_for_every_shape_and_burst() {
    for shape in Shape::ALL {
        for burst in [1, 3, 64, 1_024] {
            for is_pinned in [false, true] {
                let task = Task { is_pinned, ..task(shape, burst) };
                let expected = sequential(shape, task.work, task.rounded());
                assert_eq!(network(&task).unwrap(), expected, "{shape}, bursts of {burst}");
            }
        }
    }
}

#[test]
fn loop_sums_what_the_producer_stores() {
    assert_eq!(sequential(Shape::of(1, 2), Work::NONE, 1_000), [499_500; 2]);
}

#[test]
fn every_burst_is_measured() {
    let mut steps = 0;
    let table = measure(&task(Shape::of(2, 2), 1), &[1, 16], 2, || steps += 1).unwrap();
    assert_eq!(table.cells.iter().map(|cell| cell.burst).collect::<Vec<_>>(), [1, 16]);
    // The round that warms up, and two.
    assert_eq!(steps, 12);
    assert!(table.cells.iter().all(|cell| cell.nanoseconds > 0.0));
}

#[test]
fn break_even_is_the_burst_from_which_on_the_network_is_faster() {
    let mut table: Table = measure(&task(Shape::of(1, 1), 1), &[1], 1, || ()).unwrap();
    let cell = |(burst, nanoseconds): (usize, f64)| {
        let (of_ceiling, of_loop) = (9.0 / nanoseconds, 20.0 / nanoseconds);
        Cell { burst, nanoseconds, of_ceiling, of_loop }
    };
    table.cells = [(1, 50.0), (2, 19.0), (4, 21.0), (8, 15.0), (16, 10.0), (32, 9.5)].map(cell).to_vec();
    assert_eq!(table.break_even(), Some(8));
    assert_eq!(table.reaches(0.9), Some(16));
    assert_eq!(table.reaches(0.99), None);
}

#[test]
fn the_plan_has_the_processes_of_the_shape() {
    assert_eq!(
        plan(&task(Shape::of(4, 1), 8)).nodes.iter().filter(|node| node.role == Role::Process).count(),
        5
    );
}

#[test]
fn command_writes_a_table_and_refuses_bad_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["exploration", "--bursts", "64..128", "--shape", "1to1", "--indices", "4096", "--work", "0"];
    let output = signals(&arguments, folder.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("1 to 1, one store or load an index, horizon 16384\n"), "{text}");
    assert!(text.contains("\n          64  ") && text.contains("\n         128  "), "{text}");
    for (option, value) in [
        ("--bursts", "0..4"),
        ("--bursts", "9..15"),
        ("--bursts", "4,x"),
        ("--bursts", "1..99999999999999999999"),
        ("--shape", "0to1"),
        ("--shape", "1x1"),
        ("--horizon", "0"),
        ("--horizon", "16777217"),
        ("--indices", "0"),
    ] {
        let output = signals(&["exploration", option, value], folder.path());
        assert_eq!(output.status.code(), Some(1), "{option} {value}");
        assert!(said(&output).starts_with("signals: "), "{}", said(&output));
    }
}

#[test]
fn exploration_has_no_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let refused = signals(&["exploration", "--workers", "2"], folder.path());
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("so --workers says nothing here"), "{}", said(&refused));
}
