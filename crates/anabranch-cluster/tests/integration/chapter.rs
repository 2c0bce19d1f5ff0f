//! The chapter of the guide: its unit and its command are what systemd and docker read.

use std::collections::BTreeMap;

use anabranch_cluster::ADDRESS;

const CHAPTER: &str = include_str!("../../../../book/src/cluster.md");

/// The text of the first block of code in a language that has `words`.
fn block(language: &str, words: &str) -> &'static str {
    let begins = format!("```{language}\n");
    let blocks = CHAPTER.split(begins.as_str()).skip(1);
    let mut blocks = blocks.map(|rest| rest.split_once("\n```").expect("the end of a block").0);
    blocks.find(|block| block.contains(words)).expect("a block with the words")
}

#[test]
fn the_unit_is_one_of_systemd() {
    let mut sections: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    let mut section = "";
    for line in block("ini", "ExecStart").lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.strip_suffix(']').expect("a name in brackets");
        } else {
            let (key, value) = line.split_once('=').expect("a setting");
            let twice = sections.entry(section).or_default().insert(key, value);
            assert_eq!(twice, None, "{key} is set twice");
        }
    }
    // systemd.unit(5), systemd.exec(5), systemd.service(5) and systemd.kill(5) have these settings, in these sections.
    let known = [
        ("Install", vec!["WantedBy"]),
        (
            "Service",
            vec![
                "DynamicUser",
                "Environment",
                "ExecStart",
                "KillSignal",
                "Restart",
                "RestartSec",
                "TimeoutStopSec",
            ],
        ),
        ("Unit", vec!["After", "Description", "Wants"]),
    ];
    let found = sections.iter().map(|(name, settings)| (*name, settings.keys().copied().collect::<Vec<_>>()));
    assert_eq!(found.collect::<Vec<_>>(), known);
    let service = &sections["Service"];
    assert!(service["ExecStart"].starts_with('/'), "systemd wants a whole path");
    assert!(service["Environment"].starts_with(&format!("{ADDRESS}=nats://")));
    assert_eq!(service["KillSignal"], "SIGTERM");
    assert!(["always", "on-failure"].contains(&service["Restart"]));
    assert!(service["TimeoutStopSec"].parse::<u32>().is_ok() && service["RestartSec"].parse::<u32>().is_ok());
    assert_eq!(sections["Unit"]["After"], sections["Unit"]["Wants"]);
}

#[test]
fn the_command_is_one_of_docker() {
    let line = block("sh", "docker run").replace("\\\n", " ");
    let mut words = line.split_whitespace();
    assert_eq!([words.next(), words.next()], [Some("docker"), Some("run")]);
    let mut options = BTreeMap::new();
    let mut image = None;
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--") else {
            image = Some(word);
            break;
        };
        // docker-run(1): this one has no value.
        let (name, value) = match option.split_once('=') {
            _ if option == "detach" => (option, ""),
            Some(pair) => pair,
            None => (option, words.next().expect("a value")),
        };
        options.insert(name, value);
    }
    assert_eq!(words.next(), None, "the worker has no arguments");
    let image = image.expect("an image");
    assert!(image.rsplit('/').next().is_some_and(|name| name.contains(':')), "{image} has a version");
    assert_eq!(
        options.keys().copied().collect::<Vec<_>>(),
        ["cpus", "detach", "env", "restart", "stop-timeout"]
    );
    assert!(options["env"].starts_with(&format!("{ADDRESS}=nats://")));
    assert_eq!(options["restart"], "always");
    assert!(options["cpus"].parse::<f64>().is_ok() && options["stop-timeout"].parse::<u32>().is_ok());
}
