// Filters a log from standard input to standard output.
#include "log.hpp"

int main() {
    std::uint64_t failures = 0, sum = 0;
    Entry entry;
    while (std::getline(std::cin, entry.line)) {
        Entry current = entry;
        examine(current);
        sum += current.checksum;
        if (current.is_failure) std::cout << ++failures << " " << current.line << "\n";
    }
    std::cout << failures << " failures, checksum " << sum << "\n";
}
