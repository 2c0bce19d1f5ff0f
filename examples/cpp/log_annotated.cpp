// Filters a log from standard input to standard output, on all cores: spar++ -spar_file log_annotated.cpp
#include "log.hpp"

int main() {
    std::uint64_t failures = 0, sum = 0;
    Entry entry;
    [[spar::ToStream]]
    while (std::getline(std::cin, entry.line)) {
        Entry current = entry;
        [[spar::Stage, spar::Input(current), spar::Output(current), spar::Replicate()]]
        examine(current);
        [[spar::Stage, spar::Input(current), spar::Output(failures, sum)]] {
        sum += current.checksum;
        if (current.is_failure) std::cout << ++failures << " " << current.line << "\n";
        }
    }
    std::cout << failures << " failures, checksum " << sum << "\n";
}
