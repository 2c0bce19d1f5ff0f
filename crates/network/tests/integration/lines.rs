//! The lines of code that the documentation shows to users.
#![allow(clippy::while_let_on_iterator, reason = "the lines are as they are documented")]

use anabranch::Pool;
use anabranch_network::{Error, Network};

#[test]
fn a_writer_and_a_reader_that_borrows() {
    let mut sum = 0;
    let mut net = Network::new().workers(2);
    let (mut give, mut take) = net.record::<u64>(64);
    net.process("count", move |_| {
        for n in 0..1_000 {
            if give.push(n).is_err() {
                break;
            }
        }
        Ok::<(), String>(())
    });
    net.process("sum", |_| {
        while let Some(n) = take.next() {
            sum += n
        }
        Ok(())
    });
    let result: Result<(), Error<String>> = net.run();
    result.unwrap();
    assert_eq!(sum, 499_500);
}

#[test]
fn what_is_borrowed_may_be_declared_after_the_network() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<String>(3);
    let mut seen = Vec::new();
    let words = vec!["a".to_string(), "b".to_string()];
    net.process("words", |_| {
        words.iter().for_each(|word| give.push(word.clone()).unwrap());
        Ok(())
    });
    net.process("seen", |_| {
        seen.extend(&mut take);
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(seen, words);
}

#[test]
fn items_that_are_there_from_the_start_let_a_circle_begin() {
    let mut net = Network::new();
    let (mut give, mut take) = net.record::<u64>(8);
    let (mut back, mut early) = net.record_with(8, [0u64]);
    let mut last = 0;
    net.process("add", move |_| {
        while let Some(n) = early.next() {
            if n == 1_000 || give.push(n + 1).is_err() {
                break;
            }
        }
        Ok::<(), String>(())
    });
    net.process("back", |_| {
        while let Some(n) = take.next() {
            last = n;
            if back.push(n).is_err() {
                break;
            }
        }
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(last, 1_000);
}

#[test]
fn processes_make_processes_and_records() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u32>(4);
    let mut sum = 0;
    net.process("parent", move |here| {
        for child in 0..10 {
            let (mut one, mut other) = here.record::<u32>(2);
            here.process("child", move |_| one.push(child).map_err(|closed| closed.to_string()));
            give.push(other.next().unwrap()).unwrap();
        }
        Ok(())
    });
    net.process("sum", |_| {
        sum = take.by_ref().sum();
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(sum, 45);
}

#[test]
fn a_window_slides() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u32>(8);
    let mut sums = Vec::new();
    net.process("give", move |_| {
        (0..10).for_each(|n| give.push(n).unwrap());
        Ok(())
    });
    net.process("sums", |_| {
        for index in 1.. {
            let mut window = take.receive(5);
            if window.is_empty() {
                break;
            }
            assert_eq!(window.get(0), Some(&(index as u32 - 1)));
            sums.push(window.iter().sum::<u32>());
            window.release_to(index);
        }
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(sums, [10, 15, 20, 25, 30, 35, 30, 24, 17, 9]);
}

#[test]
fn networks_share_a_pool() {
    let pool = Pool::new(2);
    let run = |count: u64| {
        let mut sum = 0;
        let mut net = Network::<String>::new().pool(&pool);
        let (give, take) = net.record::<u64>(4);
        let mut numbers = 0..count;
        net.rule("give", (), give.produces(1), move |(), out| match numbers.next() {
            Some(n) => {
                out.push(n);
                Ok(std::ops::ControlFlow::Continue(()))
            }
            None => Ok(std::ops::ControlFlow::Break(())),
        });
        net.rule("sum", take.consumes(1), (), |n, ()| {
            sum += n[0];
            Ok(())
        });
        net.run().unwrap();
        sum
    };
    std::thread::scope(|scope| {
        let sums = [10, 100, 1_000].map(|count| scope.spawn(move || (count, run(count))));
        for sum in sums {
            let (count, sum) = sum.join().unwrap();
            assert_eq!(sum, count * (count - 1) / 2);
        }
    });
}

#[test]
fn a_failure_has_the_name_of_its_process() {
    let mut net = Network::new();
    net.process("fine", |_| Ok(()));
    net.process("it's \"odd\"\0", |_| Err("boom".to_string()));
    let error = net.run().unwrap_err();
    assert_eq!(error.failure(), Some(("it's \"odd\"\0", &"boom".to_string())));
    assert!(!error.is_deadlock());
    let text = error.to_string();
    assert!(text.contains("odd") && text.contains("boom"), "{text}");
}

#[test]
fn a_network_without_processes_is_done_at_once() {
    Network::<String>::new().run().unwrap();
    let mut net = Network::<String>::new();
    let _record = net.record::<u8>(1);
    net.run().unwrap();
}
