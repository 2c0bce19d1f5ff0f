// Decompresses standard input to standard output, on all cores, with oneTBB.
#include "bunzip2.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>

int main() {
    Streams streams(stdin);
    using tbb::filter_mode;
    auto read = tbb::make_filter<void, std::string>(filter_mode::serial_in_order, [&streams](tbb::flow_control &flow) {
        std::string packed = streams.next();
        if (packed.empty()) flow.stop();
        return packed;
    });
    auto unpack = tbb::make_filter<std::string, std::string>(filter_mode::parallel, &decompress);
    auto write = tbb::make_filter<std::string, void>(filter_mode::serial_in_order,
                                                     [](const std::string &block) { write_block(stdout, block); });
    tbb::parallel_pipeline(10 * static_cast<std::size_t>(tbb::info::default_concurrency()), read & unpack & write);
}
