//! The original Rust-SSP, which is in no registry. Its program has the same files as the variants `ssp`.

use std::fs;
use std::path::{Path, PathBuf};

use measure_harness::builds::{self, put};
use measure_programs::APPLICATIONS;

use crate::checkouts::{Checkouts, source};
use crate::systems::measures;

/// Writes the program and builds it.
///
/// # Errors
/// Why this is not possible.
pub fn build(checkouts: &Checkouts) -> Result<PathBuf, String> {
    let absent = || "--rust-ssp names no checkout of github.com/GMAP/rust-ssp".to_owned();
    let checkout = checkouts.rust_ssp.as_ref().ok_or_else(absent)?;
    // A path in a manifest counts from the manifest.
    let checkout = checkout.canonicalize().map_err(|_| absent())?;
    let folder = builds::folder().join("suite-rust-ssp");
    write(&folder, &checkout).map_err(|error| format!("{}: {error}", folder.display()))?;
    let target = folder.join("target");
    eprintln!("building Rust-SSP in {}", target.display());
    builds::run(&mut builds::cargo(&folder.join("Cargo.toml"), &target))?;
    Ok(target.join(builds::PROFILE).join("suite-rust-ssp"))
}

fn write(folder: &Path, checkout: &Path) -> std::io::Result<()> {
    let sources = folder.join("src");
    fs::create_dir_all(&sources)?;
    let manifest = format!(
        "[package]\nname = \"suite-rust-ssp\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         measure-programs = {{ path = {:?} }}\nrust-spp = {{ path = {checkout:?} }}\n\
         [profile.release]\nlto = \"thin\"\ncodegen-units = 1\nstrip = true\n",
        source("programs")
    );
    put(&folder.join("Cargo.toml"), &manifest)?;
    put(&sources.join("main.rs"), include_str!("../original/main.rs"))?;
    let names = APPLICATIONS.iter().map(|about| about.name).chain(["order"]);
    let names = names.filter(|name| measures("rust-ssp", name));
    let modules = names.map(|name| (name, format!("src/variants/{name}/ssp.rs")));
    for (name, file) in modules.chain([("contract", "src/contract/ssp.rs".into())]) {
        let text = fs::read_to_string(source(&file))?;
        let text = text
            .replace("use anabranch::ssp::*;", "use rust_spp::*;")
            .replace("NAME: &'static str = \"ssp\"", "NAME: &'static str = \"rust-ssp\"");
        put(&sources.join(name).with_extension("rs"), &text)?;
    }
    Ok(())
}
