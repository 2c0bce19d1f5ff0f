// Decompresses standard input to standard output.
#include "bunzip2.hpp"

int main() {
    Streams streams(stdin);
    while (true) {
        std::string block, packed = streams.next();
        if (packed.empty()) break;
        block = decompress(packed);
        write_block(stdout, block);
    }
}
