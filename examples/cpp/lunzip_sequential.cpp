// Decompresses standard input to standard output.
#include "lunzip.hpp"

int main() {
    Members members(stdin);
    while (true) {
        std::string block, member = members.next();
        if (member.empty()) break;
        block = decompress(member);
        write_block(stdout, block);
    }
}
