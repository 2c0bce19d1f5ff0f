// Filters the frames of a video on all cores, with oneTBB.
#include "frames.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>

int main() {
    using tbb::filter_mode;
    std::uint64_t sum = 0;
    int number = 0;
    auto source = tbb::make_filter<void, Frame>(filter_mode::serial_in_order, [&](tbb::flow_control &flow) {
        if (number == FRAMES) {
            flow.stop();
            return Frame();
        }
        return shoot(number++);
    });
    auto blur = tbb::make_filter<Frame, Frame>(filter_mode::parallel, &blurred);
    auto find = tbb::make_filter<Frame, Frame>(filter_mode::parallel, &edges);
    auto end = tbb::make_filter<Frame, void>(filter_mode::serial_in_order, [&](const Frame &frame) { sum = add(sum, frame); });
    tbb::parallel_pipeline(8 * static_cast<std::size_t>(tbb::info::default_concurrency()), source & blur & find & end);
    std::printf("%016llx\n", static_cast<unsigned long long>(sum));
}
