//! Readers of gzip and zstd files in other programs and languages: each has to read the whole contents of files of abz.
//! Some readers silently stop after the first member or frame.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use abz::{Compression, Format, zstd};

use crate::support::{Folder, Random, fed, have, have_library, leave_out, noise, program, prose};

/// The output of a command run in the folder. `None` if it is not installed.
fn read_by(folder: &Folder, name: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    if !have(name) {
        return None;
    }
    let mut command = program(name);
    // Development tools cache their results. A cache in the build folder serves the next run.
    command.env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache"));
    for (variable, place) in [("GOPATH", "go"), ("HOME", "")] {
        command.env(variable, folder.path(place));
    }
    // They must not fetch anything.
    command.env("GOFLAGS", "-mod=mod").env("GOTOOLCHAIN", "local");
    let output = command.current_dir(folder.path("")).args(arguments).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(127) {
        leave_out(&format!("what {name} reads (it has nothing to launch)"));
        return None;
    }
    assert!(output.status.success(), "{name} cannot read it: {said}");
    Some(output.stdout)
}

fn input() -> Vec<u8> {
    [prose(2_000_000), noise(300_000, 3), vec![0; 2_000_000], prose(100_000)].concat()
}

fn furnished() -> Folder {
    let folder = Folder::new();
    folder.write("x", &input());
    folder.abz(&["-k", "x"]).exits(0);
    folder
}

#[track_caller]
fn reads_all(folder: &Folder, program: &str, arguments: &[&str]) {
    if let Some(data) = read_by(folder, program, arguments) {
        assert!(data == input(), "{program} gave {} bytes", data.len());
    }
}

#[test]
fn gzip_and_its_kin_read_all() {
    let folder = furnished();
    reads_all(&folder, "gzip", &["-dc", "x.gz"]);
    reads_all(&folder, "pigz", &["-dc", "x.gz"]);
    reads_all(&folder, "igzip", &["-dc", "x.gz"]);
    reads_all(&folder, "libdeflate-gunzip", &["-c", "x.gz"]);
    reads_all(&folder, "busybox", &["gzip", "-dc", "x.gz"]);
    reads_all(&folder, "7z", &["x", "-so", "x.gz"]);
    reads_all(&folder, "toybox", &["zcat", "x.gz"]);
    reads_all(&folder, "bsdcat", &["x.gz"]);
    let place = format!("(host){}", folder.path("x.gz").display());
    reads_all(&folder, "grub-fstest", &["-u", "/dev/null", "cat", &place]);
    // gzippy refuses padding bits that are not zero.
    reads_all(&folder, "gzippy", &["-dc", "x.gz"]);
}

#[test]
fn gzip_lists_the_right_size() {
    let folder = furnished();
    if let Some(listed) = read_by(&folder, "gzip", &["-l", "x.gz"]) {
        let listed = String::from_utf8(listed).unwrap();
        assert!(listed.contains(&format!(" {} ", input().len())), "{listed}");
    }
}

#[test]
fn perl_reads_all() {
    let script = "use IO::Uncompress::Gunzip qw(gunzip $GunzipError); binmode STDOUT; \
                  gunzip('x.gz' => '-') or die $GunzipError;";
    reads_all(&furnished(), "perl", &["-e", script]);
}

#[test]
fn python_reads_all() {
    let folder = furnished();
    let whole = "import gzip, sys; sys.stdout.buffer.write(gzip.open('x.gz').read())";
    // One zlib stream, as most programs use it.
    let stream = "import sys, zlib; d = zlib.decompressobj(31); data = open('x.gz', 'rb').read()\n\
                  sys.stdout.buffer.write(d.decompress(data)); assert d.eof and not d.unused_data";
    reads_all(&folder, "python3", &["-c", whole]);
    reads_all(&folder, "python3", &["-c", stream]);
}

#[test]
fn gzread_of_zlib_reads_all() {
    let script = "import ctypes, ctypes.util, sys\n\
        z = ctypes.CDLL(ctypes.util.find_library('z') or sys.exit(127)); z.gzopen.restype = ctypes.c_void_p\n\
        f = ctypes.c_void_p(z.gzopen(b'x.gz', b'rb')); b = ctypes.create_string_buffer(1 << 16)\n\
        while (n := z.gzread(f, b, 1 << 16)) > 0: sys.stdout.buffer.write(b.raw[:n])\n\
        sys.exit(0 if n == 0 and z.gzclose(f) == 0 else 1)";
    reads_all(&furnished(), "python3", &["-c", script]);
}

#[test]
fn node_reads_all() {
    let folder = furnished();
    let whole = "process.stdout.write(require('zlib').gunzipSync(require('fs').readFileSync('x.gz')))";
    let stream =
        "require('fs').createReadStream('x.gz').pipe(require('zlib').createGunzip()).pipe(process.stdout)";
    reads_all(&folder, "node", &["-e", whole]);
    reads_all(&folder, "node", &["-e", stream]);
}

#[test]
fn php_and_ruby_read_all() {
    let folder = furnished();
    reads_all(&folder, "php", &["-r", "echo gzdecode(file_get_contents('x.gz'));"]);
    reads_all(&folder, "php", &["-r", "readfile('compress.zlib://x.gz');"]);
    reads_all(&folder, "ruby", &["-rzlib", "-e", "Zlib::GzipReader.open('x.gz') { |file| print file.read }"]);
    reads_all(&folder, "ruby", &["-rzlib", "-e", "print Zlib.gunzip(File.binread('x.gz'))"]);
}

#[test]
fn erlang_reads_all() {
    let folder = furnished();
    let script =
        "{ok, File} = file:read_file(\"x.gz\"), ok = file:write_file(\"read\", zlib:gunzip(File)), halt().";
    if read_by(&folder, "erl", &["-noshell", "-eval", script]).is_some() {
        assert!(folder.read("read") == input());
    }
}

#[test]
fn java_reads_all() {
    let folder = furnished();
    let source = "import java.io.*; import java.util.zip.*;\n\
        class Read { public static void main(String[] a) throws IOException {\n\
        new GZIPInputStream(new FileInputStream(\"x.gz\")).transferTo(System.out); System.out.flush(); } }";
    folder.write("Read.java", source.as_bytes());
    reads_all(&folder, "java", &["Read.java"]);
}

/// This may take longer than 10 s: the first time, Go compiles its standard library.
#[test]
fn go_reads_all() {
    let folder = furnished();
    let source = "package main\nimport (\"compress/gzip\"; \"io\"; \"os\")\n\
        func main() { f, _ := os.Open(\"x.gz\"); r, e := gzip.NewReader(f); if e != nil { panic(e) }\n\
        r.Multistream(false); if _, e = io.Copy(os.Stdout, r); e != nil { panic(e) } }\n";
    folder.write("read.go", source.as_bytes());
    reads_all(&folder, "go", &["run", "read.go"]);
}

/// A folder with a zstd file, `x.zst`.
fn furnished_with_zstd() -> Folder {
    let folder = Folder::new();
    folder.write("x", &[input(), input()].concat());
    folder.abz(&["-F", "zstd", "x"]).exits(0);
    folder
}

#[track_caller]
fn reads_all_of_zstd(program: &str, arguments: &[&str]) {
    if let Some(data) = read_by(&furnished_with_zstd(), program, arguments) {
        assert!(data == [input(), input()].concat(), "{program} gave {} bytes", data.len());
    }
}

#[test]
fn zstd_and_pzstd_read_all() {
    reads_all_of_zstd("zstd", &["-dcq", "x.zst"]);
    reads_all_of_zstd("pzstd", &["-dcq", "x.zst"]);
}

#[test]
fn python_reads_all_of_zstd_in_one_call_and_as_a_stream() {
    // Packages that are not installed are skipped.
    let with = |package: &str, read: &str| {
        let script = format!(
            "import importlib.util as u, sys\nif not u.find_spec('{package}'): sys.exit(127)\n\
             import {package} as z\ndata = open('x.zst', 'rb').read()\nsys.stdout.buffer.write({read})"
        );
        reads_all_of_zstd("python3", &["-c", &script]);
    };
    with("zstandard", "z.ZstdDecompressor().decompress(data)");
    with("zstandard", "z.ZstdDecompressor().decompressobj().decompress(data)");
    with("zstandard", "b''.join(z.ZstdDecompressor().read_to_iter(open('x.zst', 'rb')))");
    with("pyzstd", "z.decompress(data)");
}

#[test]
fn node_reads_all_of_zstd() {
    let script = "const z = require('zlib'); if (!z.zstdDecompressSync) process.exit(127);\
                  process.stdout.write(z.zstdDecompressSync(require('fs').readFileSync('x.zst')))";
    reads_all_of_zstd("node", &["-e", script]);
}

#[test]
fn curl_reads_all() {
    let folder = furnished();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", server.local_addr().unwrap());
    let file = fs::read(folder.path("x.gz")).unwrap();
    let serving = thread::spawn(move || {
        let Ok((stream, _)) = server.accept() else { return };
        let mut lines = BufReader::new(&stream).lines();
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            file.len()
        );
        let mut stream = &stream;
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&file));
    });
    let arguments = ["-sS", "--noproxy", "*", "--compressed", &address];
    let read = read_by(&folder, "curl", &arguments);
    if let Some(data) = &read {
        assert!(*data == input(), "curl gave {} bytes", data.len());
        serving.join().unwrap();
    }
}

/// Files of zstd with contents of several kinds, of each level, in one frame and in several, and the contents.
fn zstd_files() -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut random = Random(62);
    let files = (0..60).map(|number: u32| {
        let contents: Vec<u8> = (0..1 + random.below(4))
            .flat_map(|_| {
                let len = 1 + random.below(12_000) as usize;
                match random.below(4) {
                    0 => vec![0; len],
                    1 => noise(len, random.below(1 << 30)),
                    2 => (0..len / 5).flat_map(|line| format!("{line}\n").into_bytes()).collect(),
                    _ => prose(len),
                }
            })
            .collect();
        let mut compression = Compression {
            format: Format::Zstd,
            level: 1 + number % 19,
            workers: 1,
            ..Compression::default()
        };
        compression.block_size = [Some(4096), Some(20_000), None][random.below(3) as usize];
        compression.contents = (random.below(2) == 0).then_some(contents.len() as u64);
        compression.zstd.layout =
            if random.below(3) == 0 { zstd::Layout::Frames } else { zstd::Layout::OneFrame };
        let mut file = Vec::new();
        abz::compress(&contents[..], &mut file, &compression).unwrap();
        (file, contents)
    });
    files.collect()
}

#[test]
fn ruzstd_reads_all_files_of_zstd() {
    for (file, contents) in zstd_files() {
        let (mut rest, mut data) = (&file[..], Vec::new());
        while !rest.is_empty() {
            // A decoder reads one frame, and leaves the skippable ones to its caller.
            if rest[1..4] == [0x2a, 0x4d, 0x18] {
                let len = u32::from_le_bytes(rest[4..8].try_into().unwrap()) as usize;
                rest = &rest[8 + len..];
                continue;
            }
            ruzstd::decoding::StreamingDecoder::new(&mut rest).unwrap().read_to_end(&mut data).unwrap();
        }
        assert!(data == contents);
    }
}

#[test]
fn klauspost_s_library_reads_all_files_of_zstd() {
    if !have("go") || !have_library("/usr/share/gocode/src/github.com/klauspost/compress/zstd") {
        return;
    }
    let folder = Folder::new();
    let source = "package main\nimport (\"io\"; \"os\"; \"github.com/klauspost/compress/zstd\")\n\
        func main() { for _, name := range os.Args[1:] { f, _ := os.Open(name); r, e := zstd.NewReader(f)\n\
        if e != nil { panic(e) }; data, e := io.ReadAll(r); if e != nil { panic(name + \": \" + e.Error()) }\n\
        os.WriteFile(name + \".out\", data, 0644) } }\n";
    folder.write("read.go", source.as_bytes());
    let files = zstd_files();
    let names: Vec<String> = (0..files.len()).map(|number| format!("{number}.zst")).collect();
    for (name, (file, _)) in names.iter().zip(&files) {
        folder.write(name, file);
    }
    let mut command = program("go");
    command.current_dir(folder.path("")).args(["run", "read.go"]).args(&names);
    command.env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache"));
    command.env("GO111MODULE", "off").env("GOPATH", "/usr/share/gocode").env("GOTOOLCHAIN", "local");
    let output = fed(command, b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (name, (_, contents)) in names.iter().zip(&files) {
        assert!(folder.read(&format!("{name}.out")) == *contents, "{name}");
    }
}
