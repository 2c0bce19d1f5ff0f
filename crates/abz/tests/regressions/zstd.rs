//! Files of zstd.

use crate::support::{Folder, fed, have, have_library, program};

/// Issue 62: klauspost/compress (in containerd and Kubernetes) and aircompressor (in Trino) refuse a code for offsets with the
/// symbol 31, which abz wrote where it joined a piece with new offsets.
#[test]
fn klauspost_refuses_a_code_for_offsets_that_no_file_has() {
    let folder = Folder::new();
    let numbers: String = (1..=3000).map(|number| format!("{number}\n")).collect();
    let contents = [&[0; 7000][..], numbers.as_bytes()].concat();
    folder.write("q", &contents);
    let file = folder.abz(&["-F", "zstd", "-b", "4K", "-c", "q"]).exits(0).stdout();
    folder.write("q.zst", &file);
    let mut data = Vec::new();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(&file[..]).unwrap();
    std::io::Read::read_to_end(&mut decoder, &mut data).unwrap();
    assert!(data == contents);
    if have("go") && have_library("/usr/share/gocode/src/github.com/klauspost/compress/zstd") {
        let source = "package main\nimport (\"io\"; \"os\"; \"github.com/klauspost/compress/zstd\")\n\
            func main() { r, e := zstd.NewReader(os.Stdin); if e != nil { panic(e) }\n\
            if _, e = io.Copy(os.Stdout, r); e != nil { panic(e) } }\n";
        folder.write("read.go", source.as_bytes());
        let mut command = program("go");
        command.current_dir(folder.path("")).args(["run", "read.go"]);
        command.env("GOCACHE", std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache"));
        command.env("GO111MODULE", "off").env("GOPATH", "/usr/share/gocode").env("GOTOOLCHAIN", "local");
        let output = fed(command, &file);
        assert!(output.stdout == contents, "{}", String::from_utf8_lossy(&output.stderr));
    }
}
