// Compresses standard input to standard output, on all cores: spar++ -spar_file lzip_annotated.cpp -llz
#include "lzip.hpp"

int main() {
    [[spar::ToStream]]
    while (true) {
        std::string packed, block = read_block(stdin);
        if (block.empty()) break;
        [[spar::Stage, spar::Input(block), spar::Output(packed), spar::Replicate()]]
        packed = compress(block);
        [[spar::Stage, spar::Input(packed)]]
        write_block(stdout, packed);
    }
}
