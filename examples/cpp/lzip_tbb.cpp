// Compresses standard input to standard output, on all cores, with oneTBB.
#include "lzip.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>

int main() {
    using tbb::filter_mode;
    auto read = tbb::make_filter<void, std::string>(filter_mode::serial_in_order, [](tbb::flow_control &flow) {
        std::string block = read_block(stdin);
        if (block.empty()) flow.stop();
        return block;
    });
    auto pack = tbb::make_filter<std::string, std::string>(filter_mode::parallel, &compress);
    auto write = tbb::make_filter<std::string, void>(filter_mode::serial_in_order,
                                                     [](const std::string &packed) { write_block(stdout, packed); });
    tbb::parallel_pipeline(10 * static_cast<std::size_t>(tbb::info::default_concurrency()), read & pack & write);
}
