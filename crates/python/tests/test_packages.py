"""Other packages work with its files as with those of `gzip`."""

import csv
import io
import itertools
import json
import random
import tarfile

import pytest

import abz
from conftest import SUFFIXES, have, text


def test_csv_and_json(path):
    rows = [{"number": str(number), "name": f"line {number}"} for number in range(10_000)]
    with abz.open(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["number", "name"])
        writer.writeheader()
        writer.writerows(rows)
    with abz.open(path, "rt", newline="", encoding="utf-8") as file:
        assert list(csv.DictReader(file)) == rows
    with abz.open(path, "wt", encoding="utf-8") as file:
        json.dump(rows, file)
    for mode in "rt", "rb":
        with abz.open(path, mode) as file:
            assert json.load(file) == rows


def test_tarfile(path, contents):
    contents = contents[:400_000]
    with abz.open(path, "wb", level=1) as file, tarfile.open(fileobj=file, mode="w") as archive:
        for number in range(5):
            member = tarfile.TarInfo(f"file {number}")
            member.size = len(contents)
            archive.addfile(member, io.BytesIO(contents))
    for mode in "r:", "r|":
        with abz.open(path) as file, tarfile.open(fileobj=file, mode=mode) as archive:
            assert [archive.extractfile(member).read() == contents for member in archive] == [True] * 5
    # In another order, which seeks.
    with abz.open(path) as file, tarfile.open(fileobj=file) as archive:
        for name in reversed(archive.getnames()):
            assert archive.extractfile(name).read() == contents


@pytest.mark.filterwarnings("ignore")
def test_pandas(path):
    pandas = have("pandas")
    frame = pandas.DataFrame({"number": range(50_000), "name": [f"line {number}" for number in range(50_000)]})
    for mode in "wt", "wb":
        with abz.open(path, mode) as file:
            frame.to_csv(file, index=False)
        for mode in "rt", "rb":
            with abz.open(path, mode) as file:
                pandas.testing.assert_frame_equal(pandas.read_csv(file), frame)
    with abz.open(path) as file:
        parts = list(pandas.read_csv(file, chunksize=7000))
    pandas.testing.assert_frame_equal(pandas.concat(parts), frame)
    with abz.open(path, "wb") as file:
        frame.to_pickle(file, compression=None)
    with abz.open(path) as file:
        pandas.testing.assert_frame_equal(pandas.read_pickle(file, compression=None), frame)


@pytest.mark.filterwarnings("ignore")
def test_numpy(path):
    numpy = have("numpy")
    table = numpy.arange(60_000, dtype="f8").reshape(200, 300)
    with abz.open(path, "wb") as file:
        numpy.save(file, table)
        numpy.save(file, table.T)
    with abz.open(path) as file:
        assert (numpy.load(file) == table).all()
        assert (numpy.load(file) == table.T).all()
    with abz.open(path, "wb") as file:
        numpy.savetxt(file, table[:10])
    for mode in "rt", "rb":
        with abz.open(path, mode) as file:
            assert (numpy.loadtxt(file) == table[:10]).all()
    with abz.open(path, "wb") as file:
        file.write(table)
    with abz.open(path) as file:
        back = numpy.empty_like(table)
        assert file.readinto(back) == back.nbytes
        assert (back == table).all()
    assert abz.decompress(abz.compress(table)) == table.tobytes()


@pytest.mark.filterwarnings("ignore")
def test_pyarrow(path):
    pyarrow = have("pyarrow")
    from pyarrow import csv as arrow_csv, ipc, json as arrow_json, parquet

    table = pyarrow.table({"number": range(50_000), "name": [f"line {number}" for number in range(50_000)]})
    with abz.open(path, "wb") as file:
        arrow_csv.write_csv(table, file)
    with abz.open(path) as file:
        assert arrow_csv.read_csv(file).equals(table)
    with abz.open(path, "wt") as file:
        for row in itertools.islice(table.to_pylist(), 1000):
            print(json.dumps(row), file=file)
    with abz.open(path) as file:
        assert arrow_json.read_json(file).equals(table.slice(0, 1000))
    with abz.open(path, "wb") as file, ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    with abz.open(path) as file, ipc.open_stream(file) as stream:
        assert stream.read_all().equals(table)
    # This reads at random places.
    with abz.open(path, "wb") as file:
        parquet.write_table(table, file)
    with abz.open(path) as file:
        assert parquet.read_table(file, columns=["name"]).equals(table.select(["name"]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("format", ["gzip", "bzip2", "xz"])
def test_it_behaves_as_xopen_does(tmp_path, format):
    xopen = have("xopen").xopen
    path, draw = tmp_path / f"notes{SUFFIXES[format]}", random.Random(1)
    lines = [line.decode("ascii") for line in text(200_000).splitlines(keepends=True)]
    whole = "".join(lines)

    def both(mode, **settings):
        return abz.open(path, mode, **settings), xopen(path, mode, **settings)

    # Each reads what the other writes, in one piece and in many, appended to and not.
    for ours, theirs in (abz.open, xopen), (xopen, abz.open):
        with ours(path, "wt") as file:
            file.writelines(lines[:100])
        with ours(path, "at") as file:
            file.write("".join(lines[100:]))
        with theirs(path, "rt") as file:
            assert list(file) == lines
        with theirs(path, "rb") as file:
            assert file.read() == whole.encode()

    # The answers of a file are the same.
    for mode in "rb", "rt":
        ours, theirs = both(mode)
        with ours, theirs:
            assert ours.readable() == theirs.readable() and ours.writable() == theirs.writable()
            for _ in range(300):
                size = draw.choice([0, 1, 17, 1000])
                for call in draw.choice(
                    [
                        lambda file: file.read(size),
                        lambda file: file.readline(),
                        lambda file: next(iter(file), None) if mode == "rb" else file.readline(),
                    ]
                ),:
                    assert call(ours) == call(theirs)
            assert ours.closed == theirs.closed == False  # noqa: E712
        assert ours.closed and theirs.closed
        for file in ours, theirs:
            with pytest.raises(ValueError):
                file.read()
    ours, theirs = both("wb")
    with ours, theirs:
        for operation in lambda file: file.read(), lambda file: file.write("text"):
            errors = []
            for file in ours, theirs:
                with pytest.raises((OSError, TypeError)) as caught:
                    operation(file)
                errors.append(isinstance(caught.value, TypeError))
            assert errors[0] == errors[1]

    # So are its errors.
    for mode in "rt", "rb":
        for function in abz.open, xopen:
            with pytest.raises(FileNotFoundError):
                function(tmp_path / f"no{SUFFIXES[format]}", mode).read()
    path.write_bytes(path.read_bytes()[:-5])
    with xopen(path, "wb") as file:
        file.write(whole.encode())
    path.write_bytes(path.read_bytes()[:-10])
    for function in abz.open, xopen:
        with pytest.raises((EOFError, OSError)), function(path, "rb") as file:
            file.read()
    for function in abz.open, xopen:
        with pytest.raises(ValueError):
            function(path, "hallo")
