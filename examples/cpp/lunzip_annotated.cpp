// Decompresses standard input to standard output, on all cores: spar++ -spar_file lunzip_annotated.cpp -llz
#include "lunzip.hpp"

int main() {
    Members members(stdin);
    [[spar::ToStream]]
    while (true) {
        std::string block, member = members.next();
        if (member.empty()) break;
        [[spar::Stage, spar::Input(member), spar::Output(block), spar::Replicate()]]
        block = decompress(member);
        [[spar::Stage, spar::Input(block)]]
        write_block(stdout, block);
    }
}
