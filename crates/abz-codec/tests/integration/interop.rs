//! Compares with the gzip of this system and with Python's, in both directions. If one of them is not installed, its
//! part is skipped, and the last line of the crate's tests says so.

use crate::support::*;

const PYTHON_DECOMPRESS: &str =
    "import gzip, sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))";
const PYTHON_COMPRESS: &str =
    "import gzip, sys; sys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read(), 6))";

fn inputs() -> Vec<Vec<u8>> {
    vec![Vec::new(), b"x".to_vec(), prose(100_000), Noise::new(7).bytes(100_000), vec![0; 1_000_000]]
}

#[test]
fn others_read_ours() {
    for data in inputs() {
        for (level, block_size) in [(1, 10_000), (6, 1 << 20), (12, 50_000)] {
            let file = compress(&data, level, block_size);
            for (program, arguments) in [("gzip", &["-dc"][..]), ("python3", &["-c", PYTHON_DECOMPRESS])] {
                let Some(out) = through(program, arguments, &file) else { continue };
                assert!(out == data, "{program}, level {level}, blocks of {block_size}");
            }
        }
        let file = compress_with_origin(&data, 30_000, b"river.txt", 1_700_000_000);
        if let Some(out) = through("gzip", &["-dc"], &file) {
            assert!(out == data, "with a name");
        }
    }
}

#[test]
fn we_read_others() {
    for data in inputs() {
        for (program, arguments) in
            [("gzip", &["-c1"][..]), ("gzip", &["-c9"]), ("python3", &["-c", PYTHON_COMPRESS])]
        {
            let Some(file) = through(program, arguments, &data) else { continue };
            assert!(decode_all(&file) == data, "{program} {arguments:?}");
        }
    }
}
