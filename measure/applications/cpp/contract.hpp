// The experiments of the contract, as in ../applications/src/contract. An error is an exception of the type `Failure`.
#pragma once

#include <atomic>
#include <cinttypes>
#include <optional>
#include <thread>

#include "applications.hpp"

namespace contract {

constexpr unsigned WORKERS = 4;
constexpr std::uint64_t BROKEN = 20, BOUND = 8192;

struct Failure {
    std::uint64_t item;
};
struct Payload {
    std::uint64_t item;
};

struct Watch {
    std::atomic<std::uint64_t> pulled{0}, out{0}, most{0};
};

inline void pause(double milliseconds) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds)); }

struct Source {
    static constexpr bool waits = true;
    Watch *watch;
    std::uint64_t items;
    double pause_ms;
    std::uint64_t next = 0;
    std::optional<std::uint64_t> operator()() {
        if (next == items) return std::nullopt;
        if (next > 0 && pause_ms > 0) pause(pause_ms);
        std::uint64_t inside = ++watch->pulled - watch->out;
        std::uint64_t most = watch->most;
        while (inside > most && !watch->most.compare_exchange_weak(most, inside)) {}
        return next++;
    }
};

inline int finding(bool is_kept, const std::string &number) {
    std::printf("%s %s\n", is_kept ? "kept" : "broken", number.c_str());
    std::fflush(stdout);
    return 0;
}

inline std::string thousands(std::uint64_t number) {
    if (number < 1000) return std::to_string(number);
    char rest[8];
    std::snprintf(rest, sizeof rest, ",%03" PRIu64, number % 1000);
    return thousands(number / 1000) + rest;
}

inline std::string places(const char *format, double number) {
    char text[64];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

inline int most_inside(const Watch &watch, std::uint64_t of) {
    bool is_all = watch.out == of;
    return finding(watch.most <= BOUND && is_all,
                   thousands(watch.most) + " of " + thousands(of) + " inside" + (is_all ? "" : ", results missing"));
}

// Makes one experiment with a system.
template <class System>
int examine(const std::string &experiment) {
    // Threads of some systems are still there when the process ends.
    auto &watch = *new Watch;
    auto keep = [](std::uint64_t item) { return item; };
    auto count = [&](std::uint64_t) { ++watch.out; };
    if (experiment == "order") {
        std::uint64_t misplaced = 0;
        auto uneven = [](std::uint64_t item) {
            volatile std::uint64_t state = item;
            for (std::uint64_t step = item * 0x9E3779B97F4A7C15u >> 53; step > 0; step--) state = state << 7 ^ step;
            return item;
        };
        System::run(Source{&watch, 20'000, 0}, WORKERS, uneven, [&](std::uint64_t result) { misplaced += watch.out++ != result; });
        return finding(misplaced == 0 && watch.out == 20'000, thousands(misplaced) + " misplaced");
    }
    if (experiment == "first-error") {
        int right = 0;
        std::string wrong;
        for (int run = 0; run < 10; run++) {
            watch.out = 0;
            auto stage = [run](std::uint64_t item) {
                bool one = run % 2 == 0;
                if (one && item == BROKEN) pause(50);
                if (one ? item == BROKEN || item == BROKEN + 1 : item >= BROKEN) throw Failure{item};
                return item;
            };
            try {
                System::run(Source{&watch, 1000, 0}, WORKERS, stage, count);
                wrong = "no error, " + std::to_string(watch.out) + " results";
            } catch (const Failure &failure) {
                bool is_right = failure.item == BROKEN && watch.out == BROKEN;
                right += is_right;
                if (!is_right) wrong = "error " + std::to_string(failure.item) + " after " + std::to_string(watch.out) + " results";
            }
        }
        return right == 10 ? finding(true, "error 20 after 20 results")
                           : finding(false, wrong + " (" + std::to_string(right) + " of 10 right)");
    }
    if (experiment == "panic") {
        auto stage = [](std::uint64_t item) {
            if (item == BROKEN) throw Payload{item};
            return item;
        };
        try {
            System::run(Source{&watch, 200, 0}, WORKERS, stage, count);
        } catch (const Payload &payload) {
            return finding(payload.item == BROKEN, "arrives after " + std::to_string(watch.out) + " results");
        } catch (...) {
            return finding(false, "another payload, after " + std::to_string(watch.out) + " results");
        }
        return finding(false, "lost: the run ends after " + std::to_string(watch.out) + " of 200 results");
    }
    if (experiment == "slow-sink") {
        System::run(Source{&watch, 20'000, 0}, WORKERS, keep, [&](std::uint64_t) {
            for (auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50); std::chrono::steady_clock::now() < end;) {}
            ++watch.out;
        });
        return most_inside(watch, 20'000);
    }
    if (experiment == "slow-item") {
        auto stage = [](std::uint64_t item) {
            if (item == 0) pause(300);
            return item;
        };
        System::run(Source{&watch, 50'000, 0}, WORKERS, stage, count);
        return most_inside(watch, 50'000);
    }
    if (experiment == "idle") {
        auto begin = std::chrono::steady_clock::now();
        double before = processor_seconds();
        System::run(Source{&watch, 21, 50}, WORKERS, keep, count);
        std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
        double share = (processor_seconds() - before) / wall.count();
        return finding(share < 0.01, places("%.1f %% of a core", 100 * share));
    }
    if (experiment == "promptness") {
        std::uint64_t held = ~std::uint64_t(0);
        System::run(Source{&watch, 40, 20}, WORKERS, keep, [&](std::uint64_t result) {
            if (result == 0) held = watch.pulled - 1;
        });
        if (held == ~std::uint64_t(0)) return finding(false, "no result");
        return finding(held == 0, "waits for " + std::to_string(held) + (held == 0 ? " items" : " of 39 items"));
    }
    if (experiment == "stop") {
        bool is_right = false;
        try {
            System::run(Source{&watch, 2'000'000, 0}, WORKERS, keep, [&](std::uint64_t) {
                if (++watch.out == 100) throw Failure{100};
            });
        } catch (const Failure &failure) {
            is_right = failure.item == 100;
        }
        std::uint64_t returned = watch.pulled;
        pause(100);
        std::uint64_t later = watch.pulled - returned, wasted = watch.pulled - watch.out;
        return finding(is_right && wasted <= BOUND && later == 0,
                       thousands(wasted) + " too many" + (later > 0 ? ", " + thousands(later) + " of them later" : ""));
    }
    if (experiment == "memory") {
        forget_peak();
        double before = memory("VmRSS:");
        System::run(Source{&watch, 1'000'000, 0}, WORKERS, keep, count);
        double grown = memory("VmHWM:") - before;
        return finding(grown <= 8 << 20 && watch.out == 1'000'000, places("%.1f MiB", grown / (1 << 20)));
    }
    std::fprintf(stderr, "there is no experiment %s\n", experiment.c_str());
    return 1;
}

// Items that are due at these times.
struct Arrivals {
    static constexpr bool waits = true;
    const std::vector<std::chrono::duration<double>> *due;
    std::chrono::steady_clock::time_point begin;
    std::uint64_t next = 0;
    std::optional<std::uint64_t> operator()() {
        if (next == due->size()) return std::nullopt;
        std::this_thread::sleep_until(begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>((*due)[next]));
        return next++;
    }
};

// The latency of each item at 80 % load, as in ../applications/src/contract/latency.rs.
template <class System>
int latency(unsigned workers, double seconds) {
    using clock = std::chrono::steady_clock;
    constexpr double SERVICE = 1e-3;
    auto work = [](std::uint64_t steps) {
        volatile std::uint64_t begin = 1;
        std::uint64_t state = begin;
        for (; steps > 0; steps--) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        begin = state;
    };
    std::uint64_t steps = 1;
    for (int attempt = 0; attempt < 10; attempt++) {
        auto begin = clock::now();
        work(200'000);
        std::chrono::duration<double> took = clock::now() - begin;
        steps = std::max(steps, static_cast<std::uint64_t>(200'000 * SERVICE / took.count()));
    }
    const double gap = SERVICE / workers / 0.8;
    Random random(31);
    std::vector<std::chrono::duration<double>> due;
    double at = 0.01;
    for (auto left = static_cast<std::size_t>(seconds / gap); left > 0; left--) {
        at -= gap * std::log((static_cast<double>(random.below(1 << 20)) + 0.5) / (1 << 20));
        due.emplace_back(at);
    }
    std::vector<double> took;
    auto begin = clock::now();
    auto stage = [work, steps](std::uint64_t item) {
        work(steps);
        return item;
    };
    auto sink = [&](std::uint64_t item) {
        took.push_back(std::chrono::duration<double>(clock::now() - begin - due[item]).count());
    };
    if constexpr (requires { System::live(Arrivals{&due, begin}, workers, stage, sink); }) {
        System::live(Arrivals{&due, begin}, workers, stage, sink);
    } else {
        System::run(Arrivals{&due, begin}, workers, stage, sink);
    }
    if (took.size() != due.size()) return 1;
    std::sort(took.begin(), took.end());
    auto quantile = [&](double share) {
        auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(took.size())));
        return took[std::max<std::size_t>(rank, 1) - 1];
    };
    std::printf("%.9f %.9f %.9f\n", quantile(0.5), quantile(0.95), quantile(0.99));
    return 0;
}

} // namespace contract
