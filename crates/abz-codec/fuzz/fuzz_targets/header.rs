//! The header parser: what it takes it can write again, and it never looks behind its end.
#![no_main]

use abz_codec::gzip::Header;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(Some((header, len))) = Header::parse(bytes) else { return };
    assert!(len <= bytes.len());
    // Every shorter beginning is unfinished, or the end would not have been found where it is.
    assert!(matches!(Header::parse(&bytes[..len - 1]), Ok(None)));
    assert_eq!(Header::parse(&bytes[..len]).unwrap(), Some((header.clone(), len)));
    let covered: usize = header.subfields().map(|(_, data)| 4 + data.len()).sum();
    assert!(covered <= header.extra.len());

    let mut written = Vec::new();
    header.write(&mut written);
    let (again, again_len) = Header::parse(&written).unwrap().unwrap();
    assert_eq!((again, again_len), (header, written.len()));
});
