//! The installed library: programs find it with CMake and with pkg-config.

use std::path::Path;
use std::process::Command;

use abz_foreign::have;
use anabranch_c::install::Installation;

use crate::compiler::{Language, here, libraries, run};

const PROGRAM: &str = "#include <anabranch.hpp>\n\
    int main() { return anabranch::iota(0, 10).map([](int n) { return n; }).count() == 10 ? 0 : 1; }\n";

fn install(prefix: &Path) {
    let written =
        Installation { built: libraries(), prefix: prefix.to_owned() }.install().expect("it is installed");
    assert!(written.iter().all(|file| file.exists()), "{written:?}");
}

#[test]
fn an_installed_library_is_found_by_pkg_config_and_cmake() {
    let Some(mut compiler) = Language::Cpp17.compiler() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("prefix with a space");
    install(&prefix);
    install(&prefix); // over itself
    let source = folder.path().join("program.cpp");
    std::fs::write(&source, PROGRAM).expect("the program is written");
    if have("pkg-config") {
        let mut ask = Command::new("pkg-config");
        ask.args(["--cflags", "--libs", "anabranch"]).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
        let flags = String::from_utf8(run(&mut ask).stdout).expect("flags are text");
        assert!(flags.contains("-lanabranch"), "{flags}");
        // The shell splits the flags, as in a Makefile.
        let program = folder.path().join("by-pkg-config");
        compiler.args(["-std=c++17", "-O0"]).arg(&source).arg("-o").arg(&program);
        compiler
            .args(["-I"])
            .arg(prefix.join("include"))
            .arg("-L")
            .arg(prefix.join("lib"))
            .arg("-lanabranch");
        run(&mut compiler);
        run(Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")));
        // A program that needs no shared library at all: the shell splits the flags, in which spaces are escaped.
        let mut make = Command::new("sh");
        let flags = "$(pkg-config --static --cflags --libs anabranch)";
        let line = format!(
            "eval \"${{CXX:-c++}} -std=c++17 -static program.cpp {flags} -o static\" && ./static && ! ldd static"
        );
        make.args(["-c", &line]).current_dir(folder.path());
        run(make.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
    }
    if have("cmake") && have("make") {
        let project = folder.path().join("project");
        std::fs::create_dir(&project).expect("a folder");
        std::fs::copy(&source, project.join("program.cpp")).expect("a copy");
        std::fs::copy(here().join("tests/install_project/CMakeLists.txt"), project.join("CMakeLists.txt"))
            .expect("a copy");
        let build = project.join("build");
        let mut configure = Command::new("cmake");
        configure.args(["-G", "Unix Makefiles", "-S"]).arg(&project).arg("-B").arg(&build);
        run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
        run(Command::new("cmake").arg("--build").arg(&build));
        run(&mut Command::new(build.join("shared")));
        run(&mut Command::new(build.join("static")));
        run(&mut Command::new(build.join("fully_static")));
    }
}

#[test]
fn the_program_installs_the_libraries_that_were_built_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("prefix");
    let output = run(Command::new(env!("CARGO_BIN_EXE_capi")).arg("install").arg("--prefix").arg(&prefix));
    let files: Vec<String> =
        String::from_utf8(output.stdout).expect("paths are text").lines().map(str::to_owned).collect();
    assert!(files.iter().all(|file| Path::new(file).exists()), "{files:?}");
    for name in ["include/anabranch.hpp", "lib/libanabranch.a", "lib/libanabranch.so"] {
        assert!(files.iter().any(|file| Path::new(file) == prefix.join(name)), "{name} of {files:?}");
    }
}

#[test]
fn an_installation_that_cannot_be_written_says_where() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("a file");
    let refused =
        Installation { built: libraries(), prefix: file.clone() }.install().expect_err("it is in the way");
    assert!(refused.to_string().contains(&*file.to_string_lossy()), "{refused}");
    let missing = Installation { built: folder.path().to_owned(), prefix: folder.path().join("prefix") };
    assert!(missing.install().expect_err("nothing was built").to_string().contains("libanabranch_c.a"));
}
