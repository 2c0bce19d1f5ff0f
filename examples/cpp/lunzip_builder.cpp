// Decompresses standard input to standard output, on all cores, with Anabranch's builder.
#include "lunzip.hpp"

#include <anabranch.hpp>

int main() {
    Members members(stdin);
    auto next = [&members] {
        std::string member = members.next();
        return member.empty() ? std::nullopt : std::optional(std::move(member));
    };
    anabranch::from_fn(next).window(8).map(decompress).for_each([](const std::string &block) { write_block(stdout, block); });
}
