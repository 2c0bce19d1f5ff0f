//! The experiments of the contract, from outside. Those about time and memory depend on what else the machine does.

use crate::suite::{said, suite};

#[test]
fn anabranch_keeps_the_contract() {
    for system in ["sequential", "builder", "annotations", "ssp"] {
        for experiment in ["order", "first-error", "panic", "slow-item", "stop"] {
            let ran = suite(&["contract", system, experiment]);
            let finding = String::from_utf8_lossy(&ran.stdout);
            assert!(finding.starts_with("kept "), "{system}, {experiment}: {finding}{}", said(&ran));
        }
    }
}

#[test]
fn a_system_that_does_not_exist_is_not_examined() {
    let ran = suite(&["contract", "no", "order"]);
    assert!(!ran.status.success() && said(&ran).contains("expected `SYSTEM EXPERIMENT`"), "{}", said(&ran));
}
