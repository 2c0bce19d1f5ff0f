//! The wheel has the command, too, so its package has the dependencies of the command.

use std::fs;
use std::path::Path;

#[test]
fn the_wheel_depends_on_what_the_command_needs() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies beside others");
    let manifest = |name: &str| {
        fs::read_to_string(crates.join(name).join("Cargo.toml")).expect("the manifest can be read")
    };
    let (command, wheel) = (manifest("abz"), manifest("python"));
    let start = command.find("\ncommand = [").expect("the feature of the command");
    let list = &command[start..start + command[start..].find("\n]").expect("its end")];
    let needed: Vec<&str> = list.split('"').filter_map(|word| word.strip_prefix("dep:")).collect();
    assert!(needed.contains(&"clap"), "{needed:?}");
    let missing = |name: &&&str| !wheel.lines().any(|line| line.starts_with(&format!("{name} = ")));
    let missing: Vec<_> = needed.iter().filter(missing).collect();
    assert!(
        missing.is_empty(),
        "crates/python/Cargo.toml lacks {missing:?}, which abz needs for its command"
    );
}
