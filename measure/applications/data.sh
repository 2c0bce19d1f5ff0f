#!/bin/sh
# Fills a folder with the real data of `suite run --data DIR`, from Debian packages:
#   text              50 MB of dictionaries
#   source            20 MB of source code in Rust
#   image.iso         a disc image and the disk images of boot loaders
#   media             40 MB of videos and photographs, which are compressed already
#   reads.fastq       reads of a sequencer
#   photographs/      photographs
#   faces/            photographs with no face, with one and with several
#   haarcascade_*.xml OpenCV's detectors of faces and of eyes
#   packages          the packages and their versions
# Nothing is installed.
# usage: data.sh DIR    (needs apt-get, dpkg-deb, gzip; 200 MB are downloaded; 1 GB of room in $TMPDIR or /tmp)
set -eu
[ $# = 1 ] || { echo "usage: $0 DIR" >&2; exit 1; }
mkdir -p "$1"
to=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get download dict-gcide dict-wn rust-src grub-rescue-pc ipxe forensics-samples-files opencv-doc opencv-data seqprep-data
for package in *.deb; do
    dpkg-deb -x "$package" x
    dpkg-deb -W "$package"
done | tr '\t' ' ' > packages

# The bytes of all files that `find` names, in the order of their names.
whole() { LC_ALL=C sort | while IFS= read -r file; do cat "$file"; done; }
# What is cut off makes the program before it complain.
first() { head -c "$1"; cat > "$work/rest"; }

for name in gcide wn; do gzip -dc "x/usr/share/dictd/$name.dict.dz"; done | first 50000000 > "$to/text"
find x/usr/src -name '*.rs' -type f | whole | first 20000000 > "$to/source"
find x/usr/lib/grub-rescue x/usr/lib/ipxe -type f | whole > "$to/image.iso"
find x/usr/share/forensics-samples/original-files x/usr/share/doc/opencv-doc -type f \
    \( -name '*.mp4' -o -name '*.avi' -o -name '*.mpeg' -o -name '*.ogg' -o -name '*.jpg' \) | whole | first 40000000 > "$to/media"
gzip -dc x/usr/share/doc/seqprep/examples/data/multiplex_bad_contam_1.fq.gz > "$to/reads.fastq"
cp x/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt.xml x/usr/share/opencv4/haarcascades/haarcascade_eye.xml "$to"

# Copies photographs of a folder to another one, by their names without `.jpg`.
photographs() {
    from=$1 into=$2
    mkdir -p "$to/$into"
    shift 2
    for name in "$@"; do cp "$from/$name.jpg" "$to/$into/"; done
}
html=x/usr/share/doc/opencv-doc/opencv4/html
data=x/usr/share/doc/opencv-doc/examples/data
photographs x/usr/share/forensics-samples/original-files/pic1 photographs IMG_20200827_231612
photographs x/usr/share/forensics-samples/original-files/pic2 photographs IMG_20191224_234846 IMG_20200124_231153 \
    IMG_20200608_111614
photographs $data photographs aero1 aero3 aloeL aloeR apple baboon board building butterfly ela_original fruits home leuvenA \
    leuvenB messi5 orange squirrel_cls starry_night stuff
photographs $html photographs Background_Subtraction_Tutorial_frame Histogram_Calculation_Original_Image corridor_fld plant \
    pexels_double_decker_bus person_multi_det retina_TreeHdr_small retinaInput yolo
photographs $data faces/none aero1 building home leuvenA aloeL
photographs $html faces/one 227943776_1 230501201_1 face_swapped
photographs $html faces/several 2 3 example facereg
mv packages "$to"
ls -l "$to"
