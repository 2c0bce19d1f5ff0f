#!/bin/sh
# Created these files with abz at 026f670, the last commit whose gzip headers have a field "AB" or "AM":
#     ABZ=target/debug/abz sh make.sh
set -eu
text() { awk 'BEGIN { for (n = 0; n < 1000; n++) { printf "%06d", n; for (i = 0; i < 256; i++) printf "anabranch "; print "" } }'; }
text >text
printf hello >tiny
: >empty
touch -d @1700000000 text tiny empty
"$ABZ" -c tiny >tiny.gz
"$ABZ" -c <tiny >unnamed.gz
"$ABZ" -c empty >empty.gz
"$ABZ" -9 -c text >blocks.gz
"$ABZ" -9 -b 256K -c <text >small-blocks.gz
"$ABZ" -9 --rsyncable -b 256K -c text >rsyncable.gz
"$ABZ" -9 --members -b 512K -c text >members.gz
rm text tiny empty
