#!/usr/bin/env bash
# Counts sentences of documentation and comments that hide their subject: those that begin with What, Who, Where and
# their like, and are no question. A reader has to read them twice. Write subject, verb, object instead.
#
#     scripts/words.sh [DIRECTORY...]     all crates by default
#     scripts/words.sh --list [DIRECTORY...]
#
# Prints the number; with --list each such sentence before it, with its file and line. A sentence is counted where it
# begins, at the start of a comment or after a full stop.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - "$@" <<'PYTHON'
import pathlib, re, sys

arguments = [a for a in sys.argv[1:] if a != "--list"]
directories = arguments or ["crates"]
comment = re.compile(r"^\s*(//[/!]?|/?\*+|#)\s?(.*?)\s*(\*/)?$")
opening = re.compile(r"(What|Who|Whose|Where|Whether it|That of|Those|Of|So many|As good|Why)\b")
kinds = {".rs", ".h", ".hpp", ".c", ".cpp", ".py", ".sh", ".inc"}

count = 0
for directory in directories:
    for path in sorted(pathlib.Path(directory).rglob("*")):
        if path.suffix not in kinds or "target" in path.parts:
            continue
        paragraph = []  # (line number, text) of the comment lines that follow one another
        def flush():
            global count
            text = " ".join(words for _, words in paragraph)
            starts, position = [], 0
            for number, words in paragraph:
                starts.append((position, number))
                position += len(words) + 1
            for sentence in re.finditer(r"(?:^|(?<=[.!?:] ))([A-Z`*\[].*?(?:[.!?](?= |$)|$))", text):
                words = sentence.group(1)
                if opening.match(words) and not words.rstrip("`*_)").endswith("?"):
                    count += 1
                    if "--list" in sys.argv:
                        number = [n for p, n in starts if p <= sentence.start(1)][-1]
                        print(f"{path}:{number}: {words}")
            paragraph.clear()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = comment.match(line)
            if found and not line.lstrip().startswith(("#[", "#!", "#include", "#define", "#if", "#end", "#el", "#pragma")):
                if found.group(2):
                    paragraph.append((number, found.group(2)))
                    continue
            flush()
        flush()
print(count)
PYTHON
