// Decompresses standard input to standard output, on all cores: spar++ -spar_file bunzip2_annotated.cpp -lbz2
#include "bunzip2.hpp"

int main() {
    Streams streams(stdin);
    [[spar::ToStream]]
    while (true) {
        std::string block, packed = streams.next();
        if (packed.empty()) break;
        [[spar::Stage, spar::Input(packed), spar::Output(block), spar::Replicate()]]
        block = decompress(packed);
        [[spar::Stage, spar::Input(block)]]
        write_block(stdout, block);
    }
}
