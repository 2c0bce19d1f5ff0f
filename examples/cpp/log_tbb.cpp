// Filters a log from standard input to standard output, on all cores, with oneTBB.
#include "log.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>

int main() {
    using tbb::filter_mode;
    std::uint64_t failures = 0, sum = 0;
    auto read = tbb::make_filter<void, Entry>(filter_mode::serial_in_order, [](tbb::flow_control &flow) {
        Entry entry;
        if (!std::getline(std::cin, entry.line)) flow.stop();
        return entry;
    });
    auto work = tbb::make_filter<Entry, Entry>(filter_mode::parallel, [](Entry entry) {
        examine(entry);
        return entry;
    });
    auto write = tbb::make_filter<Entry, void>(filter_mode::serial_in_order, [&](const Entry &current) {
        sum += current.checksum;
        if (current.is_failure) std::cout << ++failures << " " << current.line << "\n";
    });
    tbb::parallel_pipeline(64 * static_cast<std::size_t>(tbb::info::default_concurrency()), read & work & write);
    std::cout << failures << " failures, checksum " << sum << "\n";
}
