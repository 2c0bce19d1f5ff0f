//! `abz::RandomAccess`: spans are those of the plain contents, in every format, with an index and without, in several threads.

use std::io::{Cursor, Write};
use std::thread;

use abz::{Compression, Format, RandomAccess, ReadAt, ReaderBuilder, Setting, Span, WriterBuilder};

use crate::support::{Folder, Random, files, lines, noise, prose, rounds};

/// Takes random spans, which may lie past the end.
fn same(name: &str, access: &RandomAccess<impl ReadAt>, data: &[u8], random: &mut Random) {
    let feeds = data.iter().filter(|&&byte| byte == b'\n').count();
    for _ in 0..rounds(6) {
        let mut place = |most: usize| random.below(most as u64 + most as u64 / 8) as usize;
        let (one, other) = (place(data.len()), place(data.len()));
        let (from, to) = (one.min(other), one.max(other));
        let mut found = Vec::new();
        let done = access.copy(&Span::Bytes(from as u64..to as u64), &mut found).unwrap();
        let within = |at: usize| at.min(data.len());
        assert!(found == data[within(from)..within(to)], "{name}: bytes {from} to {to}");
        assert_eq!(done.written, found.len() as u64, "{name}");
        assert!(done.end.is_none_or(|end| end == data.len() as u64), "{name}: bytes {from} to {to}");

        let (one, other) = (place(feeds), place(feeds));
        let (first, last) = (one.min(other) + 1, one.max(other) + 1);
        let mut found = Vec::new();
        access.copy(&Span::Lines(first as u64..=last as u64), &mut found).unwrap();
        assert!(found == lines(data, first, last), "{name}: lines {first} to {last}");
    }
}

#[test]
fn spans_are_those_of_the_contents() {
    let data =
        [prose(120_000), noise(20_000, 5), prose(30_000), b"no line feed at the end".to_vec()].concat();
    let mut forms: Vec<_> = files(&data).into_iter().map(|(name, file)| (name.to_owned(), file)).collect();
    for format in Format::written() {
        let block_size = format.has(Setting::BlockSize).then_some(20_000);
        let how =
            Compression { format, level: *format.levels().start(), block_size, ..Compression::default() };
        let mut writer = WriterBuilder::new().settings(how).build(Vec::new()).unwrap();
        writer.write_all(&data).unwrap();
        forms.push((format!("{format} in blocks"), writer.finish().unwrap()));
    }
    let folder = Folder::new();
    for (name, file) in forms {
        folder.write("file", &file);
        let index = ReaderBuilder::new().build(Cursor::new(&file)).unwrap().index().unwrap();
        let plain = RandomAccess::open(folder.path("file")).unwrap();
        let indexed = RandomAccess::new(&file).index(index).unwrap();
        thread::scope(|scope| {
            for seed in [1, 2] {
                let (name, data, plain, indexed) = (&name, &data, &plain, &indexed);
                scope.spawn(move || {
                    same(name, plain, data, &mut Random(seed));
                    same(name, indexed, data, &mut Random(seed));
                });
            }
        });
    }
}

#[test]
fn an_index_of_another_file_is_refused() {
    let mut indices = [b"one".as_slice(), b"another"].map(|text| {
        let mut file = Vec::new();
        abz::compress(text, &mut file, &Compression::default()).unwrap();
        let index = ReaderBuilder::new().build(Cursor::new(&file)).unwrap().index().unwrap();
        (file, index)
    });
    let [(file, own), (_, other)] = &mut indices;
    assert!(RandomAccess::new(&*file).index(own.clone()).is_ok());
    let error = RandomAccess::new(&*file).index(other.clone()).unwrap_err();
    assert!(error.to_string().contains("expected the index of this file"), "{error}");
}
