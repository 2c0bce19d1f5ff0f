//! Numbers that make no sense are refused.

use anabranch_network::Network;

use crate::contract_support::watchdog::{hush, message, panic_of, within};

#[test]
fn numbers_that_make_no_sense_are_refused() {
    hush();
    within(|| {
        let network = Network::<String>::new;
        let refuses = |what: &str, call: &mut dyn FnMut()| {
            let text = message(&*panic_of(call));
            assert!(text.contains(what), "{what}: {text}");
        };
        refuses("workers(0)", &mut || _ = network().workers(0));
        refuses("receive(0)", &mut || _ = network().record::<u8>(1).1.receive(0));
        refuses("stall(0)", &mut || _ = network().record::<u8>(1).0.stall(0));
        refuses("receive_range(3..3)", &mut || _ = network().record::<u8>(1).1.receive_range(3..3));
    });
}
