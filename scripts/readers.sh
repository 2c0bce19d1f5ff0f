#!/usr/bin/env bash
# Has other programs and libraries read what abz writes, and prints a table: which of them read all files of each format.
#
#     cargo build --release -p abz && scripts/readers.sh [--fetch DIR] [--boot] target/release/abz
#
# It runs the readers that it finds; `-` says that a reader is not there. Debian has most of them:
#
#     apt-get install busybox toybox grub-common p7zip-full libarchive-tools perl php-cli ruby default-jdk-headless \
#         libnetty-java golang-go nodejs erlang-base isal libdeflate-tools gzip pigz bzip2 xz-utils zstd lzip unzip
#
# --fetch DIR  installs libraries into DIR by npm (pako, fflate), pip (isal, zlib-ng, zstandard, deflate), go (klauspost, ulikunitz),
#              maven (aircompressor) and cargo (ruzstd, lzma-rs, lzma-rust2; flate2 with
#              miniz, zlib-rs and zlib-ng; async-compression 0.3 and 0.4), and has them read too. A second call finds them there.
# --boot       boots an initramfs of each format, made by abz and by each name, in QEMU (qemu-system-x86 and a kernel of
#              linux-image-cloud-amd64; busybox-static, cpio). Each boot takes some seconds.
#
# With --fetch it takes 5 minutes. The exit status is 1 if a reader did not give what was compressed. The ordinary tests (`readers.rs` and `boot.rs` of abz) run
# the small ones of these.
set -uo pipefail

fetch= boot=
while [ $# -gt 1 ]; do
    case $1 in
    --fetch)
        mkdir -p "$2"
        fetch=$(realpath "$2")
        shift
        ;;
    --boot) boot=1 ;;
    *) break ;;
    esac
    shift
done
if [ $# != 1 ] || [ ! -x "$1" ]; then
    sed -n '4,18p' "$0" >&2
    exit 2
fi
abz=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/readers.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{bin,files,plain}
"$abz" --install-links "$work/bin" >/dev/null || exit 1
export LC_ALL=C HOME=$work GOCACHE=$work/go GOFLAGS=-mod=mod GOTOOLCHAIN=local
cd "$work" || exit 1

# What is compressed: nothing, next to nothing, text, a program, zeros, random bytes, a mixture with a first piece that has
# no matches, and many blocks.
: >plain/empty
printf hello >plain/hello
awk 'BEGIN { srand(1); for (n = 0; n < 4000; n++) print n, rand(), "the river leaves the main stream" }' >plain/text
head -c 400000 "$abz" >plain/program
head -c 300000 /dev/zero >plain/zeros
awk 'BEGIN { srand(2); for (n = 0; n < 60000; n++) printf "%c%c%c", rand() * 128, rand() * 128, rand() * 128 }' >plain/random
{
    head -c 7000 /dev/zero
    seq 3000
    cat plain/random plain/text
    head -c 9000 /dev/zero
    cat plain/program
} >plain/mixed
{
    for _ in $(seq 30); do cat plain/text; done
    cat plain/random plain/random
    head -c 2000000 /dev/zero
} >plain/large

# make FORMAT SUFFIX WAY COMMAND...: a file of each of these.
make() {
    local format=$1 suffix=$2 way=$3 plain
    shift 3
    mkdir -p "files/$format"
    for plain in empty hello text large; do
        "$@" -c <"plain/$plain" >"files/$format/$plain.$way$suffix" || exit 1
    done
}
# levels FORMAT SUFFIX LEVELS OPTIONS...: a mixture at each level, in one block and in small ones, and each kind of data in
# small blocks, with each of the options.
levels() {
    local format=$1 suffix=$2 levels=$3 level
    shift 3
    mkdir -p "files/$format"
    for level in $levels; do
        "$abz" -F "$format" "$level" -c <plain/mixed >"files/$format/mixed.$level$suffix" || exit 1
        [ "$format" = bzip2 ] || "$abz" -F "$format" "$level" -b 4K -c <plain/mixed >"files/$format/mixed.$level-small$suffix" || exit 1
    done
    options "$format" "$format" "$suffix" "$@"
}
# options FOLDER FORMAT SUFFIX OPTIONS...: each kind of data with each of the options.
options() {
    local folder=$1 format=$2 suffix=$3 plain option
    shift 3
    mkdir -p "files/$folder"
    for option in "$@"; do
        for plain in text program zeros random mixed; do
            # shellcheck disable=SC2086
            "$abz" -F "$format" $option -c <"plain/$plain" >"files/$folder/$plain.${option// /}$suffix" || exit 1
        done
    done
}
levels gzip .gz "-1 -2 -3 -4 -5 -6 -7 -8 -9 --level=10 --level=11 --level=12" -b4K -b128K --rsyncable
levels bzip2 .bz2 "-1 -2 -3 -4 -5 -6 -7 -8 -9" -1
levels lzip .lz "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9" -b4K -b128K
levels xz .xz "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9" -b4K -b128K --check=crc32 --check=none -e
levels zstd .zst "$(seq -f --level=%g 19)" -b4K -b128K --long=20 --fast=5
make gzip .gz abz "$abz"
make gzip .gz gzip bin/gzip
make gzip .gz pigz bin/pigz -1
make zlib .zz abz "$abz" -F zlib
make zip .zip abz "$abz" -F zip
make bzip2 .bz2 abz "$abz" -F bzip2
make bzip2 .bz2 bzip2 bin/bzip2 -1
make lzip .lz abz "$abz" -F lzip
make lzip .lz lzip bin/lzip -0
make xz .xz abz "$abz" -F xz
make xz .xz xz bin/xz -0
make zstd .zst abz "$abz" -F zstd
make zstd .zst zstd bin/zstd -q
# What some readers take for the end after the first member or frame. They are not asked for these.
options members gzip .gz --members "--members -b4K" --bgzf
options frames zstd .zst --frames "--frames -b4K"
# What needs more memory than readers give by default; those of zstd are told to allow it.
make ultra .zst ultra "$abz" -F zstd --ultra --level=22
make ultra .zst long "$abz" -F zstd --long=27 -b 64K

failed=0
# reader NAME FORMATS HAVE READ: if the command HAVE succeeds, READ writes the contents of the file $file to standard output.
reader() {
    local name=$1 formats=$2 have=$3 read=$4 format file plain told= wrong= passed
    if ! eval "$have" >/dev/null 2>&1; then
        printf '%-34s -\n' "$name"
        return
    fi
    for format in $formats; do
        passed=0
        for file in "$work/files/$format"/*; do
            plain=${file##*/} plain=plain/${plain%%.*}
            if eval "$read" 2>>log </dev/null | cmp -s - "$plain"; then
                passed=$((passed + 1))
            else
                wrong+=" $format/$(basename "$file")"
            fi
        done
        told+=" $format: $passed of $(ls "files/$format" | wc -l);"
    done
    [ -z "$wrong" ] || failed=1
    printf '%-34s%s%s\n' "$name" "${told%;}" "${wrong:+ FAILED:$wrong}"
}
# batch NAME FORMATS HAVE READ: as `reader`, for a command that reads from its standard input lines with a file and its
# contents, separated by a tab, and writes a line for each file that it does not read, with the reason.
batch() {
    local name=$1 formats=$2 have=$3 read=$4 format file plain told= wrong= count
    if ! eval "$have" >/dev/null 2>&1; then
        printf '%-34s -\n' "$name"
        return
    fi
    for format in $formats; do
        for file in "$work/files/$format"/*; do
            plain=${file##*/}
            printf '%s\t%s\n' "$file" "$work/plain/${plain%%.*}"
        done >list
        eval "$read" <list >refused 2>>log || echo "it failed" >>refused
        count=$(wc -l <list)
        told+=" $format: $((count - $(wc -l <refused))) of $count;"
        [ ! -s refused ] || wrong+=" $format: $(head -n 3 refused | sed "s|$work/files/||" | tr '\n' ';')"
    done
    [ -z "$wrong" ] || failed=1
    printf '%-34s%s%s\n' "$name" "${told%;}" "${wrong:+ FAILED:$wrong}"
}
have() { command -v "$1"; }

for tool in gzip pigz igzip; do
    reader "$tool" "gzip members" "have $tool" "$tool"' -dc "$file"'
done
reader "libdeflate-gunzip" "gzip members" "have libdeflate-gunzip" 'libdeflate-gunzip -c "$file"'
reader "bzip2" bzip2 "have bzip2" 'bzip2 -dc "$file"'
reader "lbzip2" bzip2 "have lbzip2" 'lbzip2 -dc "$file"'
reader "lzip" lzip "have lzip" 'lzip -dc "$file"'
reader "xz" "xz lzip" "have xz" 'xz -dc "$file"'
reader "zstd" "zstd frames" "have zstd" 'zstd -dcq "$file"'
reader "unzip" zip "have unzip" 'unzip -p "$file"'
reader "busybox" "gzip members bzip2 xz" "have busybox" \
    'case $file in *.gz) busybox gzip -dc "$file" ;; *.bz2) busybox bzip2 -dc "$file" ;; *) busybox xz -dc "$file" ;; esac'
reader "toybox" "gzip members bzip2" "have toybox" \
    'case $file in *.gz) toybox zcat "$file" ;; *) toybox bzcat "$file" ;; esac'
# What is not compressed GRUB gives as it is; it takes an empty file for none.
reader "grub-fstest" "gzip xz" "have grub-fstest" \
    'case $file in */empty.*) ;; *) grub-fstest -u /dev/null cat "(host)$file" ;; esac'
reader "7z" "gzip members bzip2 xz zip" "have 7z" '7z x -so "$file"'
reader "bsdtar" "gzip members bzip2 lzip xz zstd frames" "have bsdtar" 'bsdcat "$file"'
cat >serve.py <<'END'
import http.server, subprocess, sys, threading
data = open(sys.argv[1], "rb").read()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *arguments):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = "http://127.0.0.1:%d/" % server.server_port
sys.exit(subprocess.run(["curl", "-sS", "--noproxy", "*", "--compressed", address]).returncode)
END
reader "curl" gzip "have curl && have python3" 'python3 "$work/serve.py" "$file"'

# Languages.
reader "Perl" "gzip bzip2" "have perl" \
    'case $file in *.gz) module=Gunzip function=gunzip ;; *) module=Bunzip2 function=bunzip2 ;; esac
    perl -e "use IO::Uncompress::$module qw($function); binmode STDOUT; $function(\$ARGV[0] => q(-)) or die" "$file"'
reader "PHP, gzdecode" gzip "have php" "php -r 'echo gzdecode(file_get_contents(\$argv[1]));' -- \"\$file\""
reader "PHP, streams" "gzip members" "have php" "php -r 'readfile(\"compress.zlib://\" . \$argv[1]);' -- \"\$file\""
reader "Ruby, GzipReader" gzip "have ruby" \
    "ruby -rzlib -e 'Zlib::GzipReader.open(ARGV[0]) { |file| print file.read }' \"\$file\""
reader "Ruby, gunzip" "gzip" "have ruby" "ruby -rzlib -e 'print Zlib.gunzip(File.binread(ARGV[0]))' \"\$file\""
reader "Erlang" "gzip members zlib" "have erl" \
    'case $file in *.gz) call=gunzip ;; *) call=uncompress ;; esac
    erl -noshell -eval "{ok, B} = file:read_file(\"$file\"), ok = file:write_file(\"$work/erlang\", zlib:$call(B)), halt()." \
        && cat "$work/erlang"'
cat >Read.java <<'END'
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.zip.*;
class Read {
    static InputStream open(String reader, InputStream file) throws Exception {
        switch (reader) {
        case "gzip": return new GZIPInputStream(file);
        case "zlib": return new InflaterInputStream(file);
        case "compress-gzip": return of("org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream", file);
        case "compress-bzip2": return of("org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream", file);
        case "tukaani": return of("org.tukaani.xz.XZInputStream", file);
        case "aircompressor": return of("io.airlift.compress.zstd.ZstdInputStream", file);
        default: throw new IllegalArgumentException(reader);
        }
    }
    static InputStream of(String type, InputStream file) throws Exception {
        return (InputStream) Class.forName(type).getConstructor(InputStream.class).newInstance(file);
    }
    public static void main(String[] reader) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null;) {
            String[] paths = line.split("\t");
            try (InputStream in = open(reader[0], new BufferedInputStream(new FileInputStream(paths[0])))) {
                if (!Arrays.equals(in.readAllBytes(), Files.readAllBytes(Path.of(paths[1])))) System.out.println(paths[0] + ": other contents");
            } catch (Throwable error) {
                Throwable cause = error.getCause() == null ? error : error.getCause();
                System.out.println(paths[0] + ": " + cause.toString().split("\n")[0]);
            }
        }
    }
}
END
jars=$(ls /usr/share/java/{commons-compress,xz}.jar ${fetch:+"$fetch"/java/*.jar} 2>/dev/null | tr '\n' ':')
read_java() { command java -Xmx1g -cp "$work:$jars" Read "$1"; }
have_java() { have javac && javac -d . Read.java && have java && { [ $# = 0 ] || ls $1; }; }
batch "Java" "gzip members" have_java 'read_java gzip'
batch "Java, zlib" zlib have_java 'read_java zlib'
batch "Java, commons-compress" gzip 'have_java /usr/share/java/commons-compress.jar' 'read_java compress-gzip'
batch "Java, commons-compress" bzip2 'have_java /usr/share/java/commons-compress.jar' 'read_java compress-bzip2'
batch "Java, tukaani's XZ" xz 'have_java /usr/share/java/xz.jar' 'read_java tukaani'
cat >Netty.java <<'END'
import io.netty.buffer.*;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.compression.*;
import java.nio.file.*;
class Netty {
    public static void main(String[] files) throws Exception {
        EmbeddedChannel channel = new EmbeddedChannel(new JdkZlibDecoder(ZlibWrapper.GZIP));
        channel.writeInbound(Unpooled.wrappedBuffer(Files.readAllBytes(Path.of(files[0]))));
        channel.finish();
        for (ByteBuf part; (part = channel.readInbound()) != null; part.release()) part.getBytes(0, System.out, part.readableBytes());
        System.out.flush();
    }
}
END
reader "netty, JdkZlibDecoder" gzip "have java && [ -e /usr/share/java/netty-codec.jar ]" \
    'java -cp "/usr/share/java/*" "$work/Netty.java" "$file"'
# read_go IMPORT CASES: a program in Go that reads with these packages.
read_go() {
    cat <<END
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	$1
)

func read(path string) (data []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var reader io.Reader
	switch filepath.Ext(path) {
$2
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		paths := strings.Split(lines.Text(), "\t")
		plain, _ := os.ReadFile(paths[1])
		if data, err := read(paths[0]); err != nil {
			fmt.Printf("%s: %v\n", paths[0], err)
		} else if !bytes.Equal(data, plain) {
			fmt.Printf("%s: other contents\n", paths[0])
		}
	}
}
END
}
# build_go NAME IMPORT CASES: builds it, with the packages of Debian or with those that were fetched.
build_go() {
    have go && read_go "$2" "$3" >"$1.go" && if [ -n "$fetch" ] && [ -d "$fetch/go/$1" ]; then
        cp "$1.go" "$fetch/go/$1/main.go" && (cd "$fetch/go/$1" && go build -o "$work/read-$1" .)
    else
        GO111MODULE=off GOPATH=/usr/share/gocode go build -o "read-$1" "$1.go"
    fi
}
gzip_go='	case ".gz":
		reader, err = gzip.NewReader(file)'
batch "Go" "gzip members zlib bzip2" 'build_go standard "\"compress/bzip2\"; \"compress/gzip\"; \"compress/zlib\"" "$gzip_go
	case \".bz2\":
		reader = bzip2.NewReader(file)
	case \".zz\":
		reader, err = zlib.NewReader(file)"' "$work/read-standard"
reader "Node, zlib" "gzip members zlib" "have node" \
    'case $file in *.gz) call=gunzipSync ;; *) call=inflateSync ;; esac
    node -e "process.stdout.write(require(\"zlib\").$call(require(\"fs\").readFileSync(process.argv[1])))" "$file"'
reader "Python" "gzip members bzip2 xz zlib" "have python3 && python3 -c 'import bz2, gzip, lzma'" \
    'python3 -c "
import bz2, gzip, lzma, sys, zlib
data = open(sys.argv[1], \"rb\").read()
way = {\"gz\": gzip, \"bz2\": bz2, \"xz\": lzma, \"zz\": zlib}[sys.argv[1].rsplit(\".\", 1)[1]]
sys.stdout.buffer.write(way.decompress(data))" "$file"'

# Libraries.
if [ -n "$fetch" ]; then
    if command -v npm >/dev/null && [ ! -d "$fetch/node_modules/fflate" ]; then
        npm install --prefix "$fetch" pako fflate >>log 2>&1
    fi
    if command -v python3 >/dev/null && [ ! -d "$fetch/python" ]; then
        for package in isal zlib-ng zstandard deflate; do
            python3 -m pip install --quiet --target "$fetch/python" "$package" >>log 2>&1
        done
    fi
    if command -v cargo >/dev/null && [ ! -d "$fetch/rust/target" ]; then
        for backend in rust_backend zlib-rs zlib-ng; do
            mkdir -p "$fetch/rust/$backend/src"
            printf '[package]\nname = "read-%s"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n%s\n' \
                "$backend" "flate2 = { version = \"1\", default-features = false, features = [\"$backend\"] }" \
                >"$fetch/rust/$backend/Cargo.toml"
            cat >"$fetch/rust/$backend/src/main.rs" <<'END'
fn main() {
    let file = std::fs::File::open(std::env::args().nth(1).unwrap()).unwrap();
    std::io::copy(&mut flate2::read::GzDecoder::new(file), &mut std::io::stdout()).unwrap();
}
END
        done
        for version in 0.3 0.4; do
            mkdir -p "$fetch/rust/async-$version/src"
            printf '[package]\nname = "read-async-%s"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n%s\n%s\n' \
                "${version/./-}" "async-compression = { version = \"$version\", features = [\"tokio\", \"gzip\"] }" \
                'tokio = { version = "1", features = ["rt", "io-util", "io-std", "fs"] }' >"$fetch/rust/async-$version/Cargo.toml"
            cat >"$fetch/rust/async-$version/src/main.rs" <<'END'
use tokio::io::{self, AsyncWriteExt, BufReader};
fn main() {
    let read = async {
        let file = tokio::fs::File::open(std::env::args().nth(1).unwrap()).await.unwrap();
        let mut decoder = async_compression::tokio::bufread::GzipDecoder::new(BufReader::new(file));
        let mut out = io::stdout();
        io::copy(&mut decoder, &mut out).await.unwrap();
        out.flush().await.unwrap();
    };
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(read);
}
END
        done
        mkdir -p "$fetch/rust/pure/src"
        printf '[package]\nname = "read-pure"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n%s\n' \
            'ruzstd = "0.8"
lzma-rs = "0.3"
lzma-rust2 = "0.15"' >"$fetch/rust/pure/Cargo.toml"
        cat >"$fetch/rust/pure/src/main.rs" <<'END'
use std::io::{BufRead, Cursor, Read};
use std::{fs, io};

fn read(path: &str) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let file = fs::read(path)?;
    let mut data = Vec::new();
    match path.rsplit('.').next().unwrap() {
        "zst" => {
            // A decoder of ruzstd reads one frame. The skippable ones are not for it.
            let mut rest = &file[..];
            while !rest.is_empty() {
                if rest.len() >= 8 && rest[1..4] == [0x2a, 0x4d, 0x18] {
                    let len = u32::from_le_bytes(rest[4..8].try_into()?) as usize;
                    rest = &rest[8 + len..];
                    continue;
                }
                let mut decoder = ruzstd::decoding::StreamingDecoder::new(&mut rest)?;
                decoder.read_to_end(&mut data)?;
            }
        }
        "xz" => {
            lzma_rust2::XzReader::new(&file[..], true).read_to_end(&mut data)?;
            let mut other = Vec::new();
            // It knows no other checks than these.
            if !path.contains("--check=none") {
                lzma_rs::xz_decompress(&mut Cursor::new(&file), &mut other)?;
                if other != data {
                    return Err("lzma-rs gives other contents".into());
                }
            }
        }
        _ => drop(lzma_rust2::LzipReader::new(&file[..]).read_to_end(&mut data)?),
    }
    Ok(data)
}

fn main() {
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let (path, plain) = line.split_once('\t').unwrap();
        match read(path) {
            Ok(data) if data == fs::read(plain).unwrap() => {}
            Ok(_) => println!("{path}: other contents"),
            Err(error) => println!("{path}: {error}"),
        }
    }
}
END
        for project in "$fetch"/rust/*/; do
            HOME=$(getent passwd "$(id -u)" | cut -d: -f6) cargo build --quiet --release --manifest-path "$project/Cargo.toml" \
                --target-dir "$fetch/rust/target" >>log 2>&1
        done
    fi
    if command -v go >/dev/null; then
        for module in klauspost:github.com/klauspost/compress ulikunitz:github.com/ulikunitz/xz; do
            project=$fetch/go/${module%%:*}
            [ -d "$project" ] || { mkdir -p "$project" && echo 'package main' >"$project/main.go" && (
                cd "$project" && go mod init read && go get "${module#*:}@latest"
            ); } >>log 2>&1
        done
    fi
    if command -v mvn >/dev/null && [ ! -d "$fetch/java" ]; then
        mvn --quiet dependency:copy -Dartifact=io.airlift:aircompressor:0.27 -DoutputDirectory="$fetch/java" >>log 2>&1
    fi
fi
jars+=$(ls ${fetch:+"$fetch"/java/*.jar} 2>/dev/null | tr '\n' ':')
batch "Java, aircompressor" zstd 'have_java "${fetch:-/none}"/java/aircompressor*.jar' 'read_java aircompressor'
batch "Go, klauspost" "gzip members zstd frames ultra" 'build_go klauspost "\"github.com/klauspost/compress/gzip\"; \"github.com/klauspost/compress/zstd\"" "$gzip_go
	case \".zst\":
		reader, err = zstd.NewReader(file, zstd.WithDecoderMaxWindow(map[bool]uint64{true: 1 << 31, false: 8 << 20}[strings.Contains(path, \"ultra\")]))"' \
    "$work/read-klauspost"
batch "Go, ulikunitz" xz 'build_go ulikunitz "\"github.com/ulikunitz/xz\"" "	case \".xz\":
		reader, err = xz.NewReader(bufio.NewReader(file))"' "$work/read-ulikunitz"
batch "Rust: ruzstd, lzma-rs, lzma-rust2" "zstd frames ultra xz lzip" '[ -x "$fetch/rust/target/release/read-pure" ]' "$fetch/rust/target/release/read-pure"
export NODE_PATH=$fetch/node_modules PYTHONPATH=$fetch/python
reader "Node, pako" "gzip members zlib" "have node && node -e 'require(\"pako\")'" \
    'node -e "process.stdout.write(require(\"pako\").inflate(require(\"fs\").readFileSync(process.argv[1])))" "$file"'
reader "Node, fflate" "gzip zlib" "have node && node -e 'require(\"fflate\")'" \
    'node -e "process.stdout.write(require(\"fflate\").decompressSync(require(\"fs\").readFileSync(process.argv[1])))" "$file"'
for module in isal.igzip zlib_ng.gzip_ng; do
    reader "Python, ${module%.*}" "gzip members" "have python3 && python3 -c 'import $module'" \
        'python3 -c "import '$module' as g, sys; sys.stdout.buffer.write(g.open(sys.argv[1]).read())" "$file"'
done
reader "Python, zstandard" zstd "have python3 && python3 -c 'import zstandard'" \
    'python3 -c "
import sys, zstandard
for part in zstandard.ZstdDecompressor().read_to_iter(open(sys.argv[1], \"rb\")): sys.stdout.buffer.write(part)" "$file"'
reader "Python, deflate" gzip "have python3 && python3 -c 'import deflate'" \
    'python3 -c "import deflate, sys; sys.stdout.buffer.write(deflate.gzip_decompress(open(sys.argv[1], \"rb\").read()))" "$file"'
for project in rust_backend:miniz zlib-rs:zlib-rs zlib-ng:zlib-ng async-0-3:async-compression\ 0.3 async-0-4:async-compression\ 0.4; do
    program=$fetch/rust/target/release/read-${project%%:*}
    reader "Rust, ${project#*:}" gzip "[ -x '$program' ]" "'$program'"' "$file"'
done

# The kernel.
if [ -n "$boot" ]; then
    kernel=$(ls /boot/vmlinuz-*-cloud-amd64 2>/dev/null | tail -n 1)
    # One that needs libraries does not run there.
    busybox=$(readlink -f "$(command -v busybox)")
    if [ -r "$kernel" ] && have qemu-system-x86_64 >/dev/null && have cpio >/dev/null && [ -x "$busybox" ] && ! ldd "$busybox" >/dev/null 2>&1; then
        mkdir -p root/bin
        cp "$busybox" root/bin/busybox
        printf '#!/bin/busybox sh\necho the initramfs runs\nexec /bin/busybox poweroff -f\n' >root/init
        chmod +x root/init
        (cd root && find . | cpio --quiet -o -H newc) >initramfs.cpio
        boots() {
            local name="the kernel, $*"
            "$@" -c <initramfs.cpio >initramfs || exit 1
            timeout 300 qemu-system-x86_64 -accel tcg -m 512 -display none -serial stdio -monitor none -nic none -no-reboot \
                -kernel "$kernel" -initrd initramfs -append "console=ttyS0 panic=-1 quiet" </dev/null >boot 2>>log
            if grep -q 'the initramfs runs' boot; then
                printf '%-34s boots\n' "${name//"$abz"/abz}"
            else
                failed=1
                printf '%-34s FAILED\n' "${name//"$abz"/abz}"
                cat boot
            fi
        }
        boots "$abz"
        boots "$abz" -9 -b 64K
        boots "$abz" -F bzip2
        boots "$abz" -F xz --check crc32
        boots "$abz" -F zstd
        PATH=$work/bin:$PATH
        boots gzip -9
        boots pigz
        boots bzip2
        boots lbzip2
        boots xz --check=crc32
        # Not every version writes this format.
        ! xz --format=lzma -c <root/init >/dev/null 2>&1 || boots xz --format=lzma
        boots zstd -q -19
    else
        printf '%-34s -\n' "the kernel (see above what it needs)"
    fi
fi
exit $failed
