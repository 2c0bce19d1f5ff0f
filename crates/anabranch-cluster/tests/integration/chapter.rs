//! The chapter of the guide: its package is the one in `examples/thumbnails`, its unit and its command are what systemd and docker read,
//! and its configuration is what the server reads.

use std::collections::BTreeMap;
use std::fs;

use anabranch_cluster::ADDRESS;

use crate::support::have_server;

const CHAPTER: &str = include_str!("../../../../book/src/cluster.md");

/// The text of the first block of code in a language that has `words`.
pub fn block(language: &str, words: &str) -> &'static str {
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
                "EnvironmentFile",
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
    // The address, with its password, is in a file.
    let file = service["EnvironmentFile"];
    assert!(file.starts_with('/') && block("sh", "docker run").contains(file));
    let address = block("text", ADDRESS).strip_prefix(&format!("{ADDRESS}=nats://")).expect("an address");
    assert!(address.contains('@') && CHAPTER.contains(&format!("`{file}`")));
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
        ["cpus", "detach", "env-file", "restart", "stop-timeout"]
    );
    assert!(options["env-file"].starts_with('/'));
    assert_eq!(options["restart"], "always");
    assert!(options["cpus"].parse::<f64>().is_ok() && options["stop-timeout"].parse::<u32>().is_ok());
}

#[test]
fn the_package_is_the_one_that_is_compiled() {
    macro_rules! file {
        ($name:literal) => {
            include_str!(concat!("../../../../examples/thumbnails/", $name)).trim_end()
        };
    }
    assert_eq!(block("rust", "pub fn functions()"), file!("src/lib.rs"));
    assert_eq!(block("rust,ignore", "Cluster::from_env()"), file!("src/main.rs"));
    assert_eq!(block("rust,ignore", "Worker::from_env()"), file!("src/bin/thumbnails-worker.rs"));
    // The example takes the crates from this repository, has its licence, and is not published.
    let is_ours = |line: &&str| !line.starts_with("publish") && !line.starts_with("license");
    let shown = file!("Cargo.toml").lines().filter(is_ours).map(|line| {
        let (name, of) = line.split_once(" = ").unwrap_or((line, ""));
        if of.starts_with("{ path = ") { format!("{name} = \"0.1\"") } else { line.to_owned() }
    });
    assert_eq!(block("toml", "[package]").lines().collect::<Vec<_>>(), shown.collect::<Vec<_>>());
}

#[test]
fn the_configuration_is_one_of_the_server_and_no_command_listens_to_the_world_without_a_password() {
    for command in CHAPTER.lines().filter(|line| line.starts_with("nats-server ")) {
        assert!(command.contains(" -a 127.0.0.1 "), "{command}");
    }
    let configuration = block("text", "authorization");
    assert!(configuration.contains("password"));
    if !have_server() {
        return;
    }
    // Without the certificates, which are not here.
    let lines = configuration.lines().filter(|line| !line.starts_with("tls "));
    let folder = tempfile::tempdir().unwrap();
    for text in [lines.collect::<Vec<_>>().join("\n"), debian()] {
        let path = folder.path().join("nats-server.conf");
        fs::write(&path, text.replace("/var/lib/nats", folder.path().to_str().unwrap())).unwrap();
        let mut command = abz_foreign::command("nats-server");
        let tested = command.arg("-t").arg("-c").arg(&path).output().unwrap();
        assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
    }
}

/// The configuration of Debian's package, with what the chapter adds.
fn debian() -> String {
    let added = block("sh", "apt-get install nats-server");
    let added = added.lines().find_map(|line| line.strip_prefix("echo '")).expect("a line that is added");
    let (line, file) = added.split_once("' >> ").expect("a file");
    assert_eq!(file, "/etc/nats-server.conf");
    format!("host: 127.0.0.1\nport: 4222\n{line}\n")
}

/// The subjects that a user may publish to, and subscribe to.
pub fn permissions() -> [Vec<&'static str>; 2] {
    ["publish", "subscribe"].map(|what| {
        let (_, rest) = block("text", "authorization").split_once(&format!("{what}: [")).expect("a list");
        let (list, _) = rest.split_once(']').expect("its end");
        list.split(", ").map(|subject| subject.trim_matches('"')).collect()
    })
}
