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
# --fetch DIR  installs libraries into DIR by npm (pako, fflate), pip (isal, zlib-ng, zstandard, deflate) and cargo (flate2 with
#              miniz, zlib-rs and zlib-ng; async-compression 0.3 and 0.4), and has them read too. A second call finds them there.
# --boot       boots an initramfs of each format, made by abz and by each name, in QEMU (qemu-system-x86 and a kernel of
#              linux-image-cloud-amd64; busybox-static, cpio). Each boot takes some seconds.
#
# The exit status is 1 if a reader did not give what was compressed. The ordinary tests (`readers.rs` and `boot.rs` of abz) run
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

# What is compressed: nothing, next to nothing, one block, and many.
: >plain/empty
printf hello >plain/hello
awk 'BEGIN { srand(1); for (n = 0; n < 4000; n++) print n, rand(), "the river leaves the main stream" }' >plain/text
{
    for _ in $(seq 30); do cat plain/text; done
    head -c 300000 /dev/urandom
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
make gzip .gz abz "$abz"
make gzip .gz best "$abz" -9
make gzip .gz blocks "$abz" -b 64K
make gzip .gz rsyncable "$abz" --rsyncable
make gzip .gz gzip bin/gzip
make gzip .gz pigz bin/pigz -1
make zlib .zz abz "$abz" -F zlib
make zip .zip abz "$abz" -F zip
make bzip2 .bz2 abz "$abz" -F bzip2
make bzip2 .bz2 bzip2 bin/bzip2 -1
make lzip .lz abz "$abz" -F lzip
make lzip .lz lzip bin/lzip -0
make xz .xz abz "$abz" -F xz
make xz .xz crc32 "$abz" -F xz --check crc32
make xz .xz xz bin/xz -0
make zstd .zst abz "$abz" -F zstd
make zstd .zst blocks "$abz" -F zstd -b 256K
make zstd .zst zstd bin/zstd -q

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
have() { command -v "$1"; }

for tool in gzip pigz igzip; do
    reader "$tool" gzip "have $tool" "$tool"' -dc "$file"'
done
reader "libdeflate-gunzip" gzip "have libdeflate-gunzip" 'libdeflate-gunzip -c "$file"'
reader "bzip2" bzip2 "have bzip2" 'bzip2 -dc "$file"'
reader "lbzip2" bzip2 "have lbzip2" 'lbzip2 -dc "$file"'
reader "lzip" lzip "have lzip" 'lzip -dc "$file"'
reader "xz" "xz lzip" "have xz" 'xz -dc "$file"'
reader "zstd" zstd "have zstd" 'zstd -dcq "$file"'
reader "unzip" zip "have unzip" 'unzip -p "$file"'
reader "busybox" "gzip bzip2 xz" "have busybox" \
    'case $file in *.gz) busybox gzip -dc "$file" ;; *.bz2) busybox bzip2 -dc "$file" ;; *) busybox xz -dc "$file" ;; esac'
reader "toybox" "gzip bzip2" "have toybox" \
    'case $file in *.gz) toybox zcat "$file" ;; *) toybox bzcat "$file" ;; esac'
# What is not compressed GRUB gives as it is; it takes an empty file for none.
reader "grub-fstest" "gzip xz" "have grub-fstest" \
    'case $file in */empty.*) ;; *) grub-fstest -u /dev/null cat "(host)$file" ;; esac'
reader "7z" "gzip bzip2 xz zip" "have 7z" '7z x -so "$file"'
reader "bsdtar" "gzip bzip2 lzip xz zstd" "have bsdtar" 'bsdcat "$file"'
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
reader "PHP, streams" gzip "have php" "php -r 'readfile(\"compress.zlib://\" . \$argv[1]);' -- \"\$file\""
reader "Ruby, GzipReader" gzip "have ruby" \
    "ruby -rzlib -e 'Zlib::GzipReader.open(ARGV[0]) { |file| print file.read }' \"\$file\""
reader "Ruby, gunzip" "gzip" "have ruby" "ruby -rzlib -e 'print Zlib.gunzip(File.binread(ARGV[0]))' \"\$file\""
reader "Erlang" "gzip zlib" "have erl" \
    'case $file in *.gz) call=gunzip ;; *) call=uncompress ;; esac
    erl -noshell -eval "{ok, B} = file:read_file(\"$file\"), ok = file:write_file(\"$work/erlang\", zlib:$call(B)), halt()." \
        && cat "$work/erlang"'
cat >Read.java <<'END'
import java.io.*;
import java.util.zip.*;
class Read {
    public static void main(String[] files) throws IOException {
        InputStream file = new FileInputStream(files[0]);
        (files[0].endsWith(".gz") ? new GZIPInputStream(file) : new InflaterInputStream(file)).transferTo(System.out);
        System.out.flush();
    }
}
END
reader "Java" "gzip zlib" "have java" 'java "$work/Read.java" "$file"'
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
cat >read.go <<'END'
package main

import (
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"io"
	"os"
	"path/filepath"
)

func main() {
	file, err := os.Open(os.Args[1])
	var reader io.Reader = bzip2.NewReader(file)
	switch filepath.Ext(os.Args[1]) {
	case ".gz":
		reader, err = gzip.NewReader(file)
	case ".zz":
		reader, err = zlib.NewReader(file)
	}
	if err == nil {
		_, err = io.Copy(os.Stdout, reader)
	}
	if err != nil {
		panic(err)
	}
}
END
reader "Go" "gzip zlib bzip2" "have go && go build -o $work/read-go $work/read.go" '"$work/read-go" "$file"'
reader "Node, zlib" "gzip zlib" "have node" \
    'case $file in *.gz) call=gunzipSync ;; *) call=inflateSync ;; esac
    node -e "process.stdout.write(require(\"zlib\").$call(require(\"fs\").readFileSync(process.argv[1])))" "$file"'
reader "Python" "gzip bzip2 xz zlib" "have python3 && python3 -c 'import bz2, gzip, lzma'" \
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
        for project in "$fetch"/rust/*/; do
            HOME=$(getent passwd "$(id -u)" | cut -d: -f6) cargo build --quiet --release --manifest-path "$project/Cargo.toml" \
                --target-dir "$fetch/rust/target" >>log 2>&1
        done
    fi
fi
export NODE_PATH=$fetch/node_modules PYTHONPATH=$fetch/python
reader "Node, pako" "gzip zlib" "have node && node -e 'require(\"pako\")'" \
    'node -e "process.stdout.write(require(\"pako\").inflate(require(\"fs\").readFileSync(process.argv[1])))" "$file"'
reader "Node, fflate" "gzip zlib" "have node && node -e 'require(\"fflate\")'" \
    'node -e "process.stdout.write(require(\"fflate\").decompressSync(require(\"fs\").readFileSync(process.argv[1])))" "$file"'
for module in isal.igzip zlib_ng.gzip_ng; do
    reader "Python, ${module%.*}" gzip "have python3 && python3 -c 'import $module'" \
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
