//! A program that uses two crates as they are published: `scripts/package.sh` builds it from their packages alone.

use anabranch::Stream;

#[anabranch::stream]
fn doubled(input: &[u32]) -> Vec<u32> {
    let mut output = Vec::new();
    #[to_stream]
    for n in input {
        #[stage(replicate)]
        let n = n * 2;
        #[stage]
        output.push(n);
    }
    output
}

fn main() -> Result<(), abz::Error> {
    assert_eq!(doubled(&[1, 2, 3]), [2, 4, 6]);
    let text: Vec<u8> = Stream::from_range(0..100_000).flat_map(|n| n.to_string().into_bytes()).collect();
    let mut packed = Vec::new();
    abz::compress(&text[..], &mut packed, &abz::Compression::default())?;
    let mut again = Vec::new();
    abz::decompress(&packed[..], &mut again, &abz::Decompression::default())?;
    assert!(packed.len() < text.len() && again == text);
    Ok(())
}
