//! Any bytes as an index, with a valid checksum, and as the file to which it belongs.
#![no_main]

use abz_codec::access::{Decoder, Index};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = Index::parse(data);
    let mut bytes = [b"ABZIDX\n\x01", data].concat();
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    let Ok(index) = Index::parse(&bytes) else { return };
    assert_eq!(index.to_bytes(), bytes);
    let mut decoder = Decoder::default();
    for part in index.parts() {
        let place = part.bytes();
        let (Ok(from), Ok(to)) = (usize::try_from(place.start), usize::try_from(place.end)) else { continue };
        if let Some(bytes) = data.get(from..to)
            && part.len() <= 1 << 20
        {
            let mut contents = Vec::new();
            if decoder.decode_into(part, bytes, &mut contents).is_ok() {
                assert_eq!(contents.len() as u64, part.len());
            }
        }
    }
});
