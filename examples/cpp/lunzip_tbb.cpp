// Decompresses standard input to standard output, on all cores, with oneTBB.
#include "lunzip.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>

int main() {
    Members members(stdin);
    using tbb::filter_mode;
    auto read = tbb::make_filter<void, std::string>(filter_mode::serial_in_order, [&members](tbb::flow_control &flow) {
        std::string member = members.next();
        if (member.empty()) flow.stop();
        return member;
    });
    auto unpack = tbb::make_filter<std::string, std::string>(filter_mode::parallel, &decompress);
    auto write = tbb::make_filter<std::string, void>(filter_mode::serial_in_order,
                                                     [](const std::string &block) { write_block(stdout, block); });
    tbb::parallel_pipeline(10 * static_cast<std::size_t>(tbb::info::default_concurrency()), read & unpack & write);
}
