//! The header parser: it can write every header that it accepts, and it never reads beyond the end of a header.
#![no_main]

use abz_codec::gzip::Header;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(Some((header, len))) = Header::parse(bytes) else { return };
    assert!(len <= bytes.len());
    // Every shorter prefix is incomplete, or the end would have been found earlier.
    assert!(matches!(Header::parse(&bytes[..len - 1]), Ok(None)));
    assert_eq!(Header::parse(&bytes[..len]).unwrap(), Some((header.clone(), len)));
    let covered: usize = header.subfields().map(|(_, data)| 4 + data.len()).sum();
    assert!(covered <= header.extra.len());

    let mut written = Vec::new();
    header.write(&mut written);
    let (again, again_len) = Header::parse(&written).unwrap().unwrap();
    assert_eq!((again, again_len), (header, written.len()));
});
