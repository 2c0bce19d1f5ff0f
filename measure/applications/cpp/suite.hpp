// What every program in C++ shares. A program has a class `System` whose function
//
//     template <class Next, class Map, class Sink> static void run(Next next, unsigned workers, Map map, Sink sink)
//
// calls `map` in parallel with what `next` gives until it gives nothing, and `sink` with the results in order. It may have
// `live`, with the same arguments, for a source that waits most of the time. If it can give up the order of the results, it has
// `static inline bool is_unordered`.
#pragma once

#include "applications.hpp"
#include "contract.hpp"

// Answers for one application.
#define SERVE(application)                                                                                                   \
    if (name == #application) {                                                                                              \
        static const application::Input input(argv[2], argv[3]);                                                             \
        answer(argv[4], version, input.amount(), [&](Output &output) {                                                       \
            auto sink = [&output](const auto &result) { application::write(output, result); };                               \
            System::run(application::source(input), workers, application::stage(input), sink);                              \
        });                                                                                                                  \
        return 0;                                                                                                            \
    }

// The arguments are those of `serve` in ../programs/src/serve.rs, or `contract SYSTEM EXPERIMENT`.
template <class System>
int suite(const std::string &version, int argc, char **argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    if (name == "contract" && argc == 4) return contract::examine<System>(argv[3]);
    if (name == "contract" && argc == 6 && std::string(argv[3]) == "latency") {
        return contract::latency<System>(static_cast<unsigned>(std::stoul(argv[4])), std::stod(argv[5]));
    }
    if (argc == 6) {
        const unsigned workers = static_cast<unsigned>(std::stoul(argv[5]));
        SERVE(micro)
        SERVE(matmul)
        SERVE(farm)
        SERVE(sink)
        // Only those that can give up the order have both forms.
        if constexpr (requires { System::is_unordered; }) {
            if (name == "order") {
                static const order::Input input(argv[2], argv[3]);
                answer(argv[4], version, input.amount(), [&](Output &output) {
                    order::Sum sum;
                    auto sink = [&sum](std::uint64_t result) { sum(result); };
                    System::is_unordered = !input.is_ordered;
                    System::run(farm::source(input.tasks), workers, farm::stage(input.tasks), sink);
                    output.write(&sum.sum, sizeof sum.sum);
                });
                return 0;
            }
        }
    }
    std::fprintf(stderr, "usage: %s APPLICATION WORKLOAD SCALE VARIANT WORKERS\n", argv[0]);
    return 1;
}

#undef SERVE
