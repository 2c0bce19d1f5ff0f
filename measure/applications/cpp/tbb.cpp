// oneTBB: parallel_pipeline with serial_in_order filters at both ends.
#include "suite.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/version.h>

struct System {
    static inline bool is_unordered = false;

    template <class Next, class Map, class Sink>
    static void run(Next next, unsigned workers, Map map, Sink sink) {
        using T = typename decltype(next())::value_type;
        using U = decltype(map(std::declval<T>()));
        using tbb::filter_mode;
        tbb::global_control threads(tbb::global_control::max_allowed_parallelism, workers);
        auto last = is_unordered ? filter_mode::serial_out_of_order : filter_mode::serial_in_order;
        auto source = [&](tbb::flow_control &control) {
            auto item = next();
            if (!item) control.stop();
            return item ? *item : T();
        };
        // As many tokens for each worker as the guide recommends to begin with.
        tbb::parallel_pipeline(8 * workers, tbb::make_filter<void, T>(filter_mode::serial_in_order, source) &
                                                tbb::make_filter<T, U>(filter_mode::parallel, map) &
                                                tbb::make_filter<U, void>(last, sink));
    }
};

int main(int argc, char **argv) {
    auto version = std::to_string(TBB_VERSION_MAJOR) + "." + std::to_string(TBB_VERSION_MINOR) + "." + std::to_string(TBB_VERSION_PATCH);
    return suite<System>(version, argc, argv);
}
