// Filters a log from standard input to standard output, on all cores, with Anabranch's builder.
#include "log.hpp"

#include <anabranch.hpp>

int main() {
    std::uint64_t failures = 0, sum = 0;
    auto next = []() -> std::optional<Entry> {
        Entry entry;
        return std::getline(std::cin, entry.line) ? std::optional(std::move(entry)) : std::nullopt;
    };
    auto examined = [](Entry entry) {
        examine(entry);
        return entry;
    };
    anabranch::from_fn(next).map(examined).for_each([&](const Entry &current) {
        sum += current.checksum;
        if (current.is_failure) std::cout << ++failures << " " << current.line << "\n";
    });
    std::cout << failures << " failures, checksum " << sum << "\n";
}
