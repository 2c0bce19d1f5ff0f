// Decompresses standard input to standard output, on all cores, with Anabranch's builder.
#include "bunzip2.hpp"

#include <anabranch.hpp>

int main() {
    Streams streams(stdin);
    auto next = [&streams] {
        std::string packed = streams.next();
        return packed.empty() ? std::nullopt : std::optional(std::move(packed));
    };
    anabranch::from_fn(next).window(64).map(decompress).for_each([](const std::string &block) { write_block(stdout, block); });
}
