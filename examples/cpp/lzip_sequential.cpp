// Compresses standard input to standard output.
#include "lzip.hpp"

int main() {
    while (true) {
        std::string packed, block = read_block(stdin);
        if (block.empty()) break;
        packed = compress(block);
        write_block(stdout, packed);
    }
}
