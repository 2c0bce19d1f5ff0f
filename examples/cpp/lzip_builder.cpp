// Compresses standard input to standard output, on all cores, with Anabranch's builder.
#include "lzip.hpp"

#include <anabranch.hpp>

int main() {
    auto next = [] {
        std::string block = read_block(stdin);
        return block.empty() ? std::nullopt : std::optional(std::move(block));
    };
    anabranch::from_fn(next).window(8).map(compress).for_each([](const std::string &packed) { write_block(stdout, packed); });
}
