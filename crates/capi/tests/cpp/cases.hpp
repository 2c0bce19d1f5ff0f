// Runs streams whose steps, settings and faults the generator of `crates/anabranch/tests` has drawn, and writes what they did.
// `tests/cases.rs` tells the cases, and compares the records with the plain loop.
#pragma once

#include "anabranch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace drawn {

using number = std::uint64_t;

inline constexpr number SOURCE = 0, SINK = ~number{0}, NO_CHILD = ~number{0};

inline number mix(number key, number mark) {
    number x = key ^ (mark + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

inline bool keeps(number key, number node) { return mix(key, node) % 4 != 0; }

inline std::atomic<long> items_left{0};

// An item that can only be moved.
struct item {
    number key, origin;

    item(number key_, number origin_) : key(key_), origin(origin_) { items_left++; }
    item(item &&other) noexcept : key(other.key), origin(other.origin) { items_left++; }
    item &operator=(item &&other) noexcept = default;
    ~item() { items_left--; }

    item marked(number mark) && { return item(mix(key, mark), origin); }
};

// The exception of a fault.
struct planted {
    number node, origin;
};

struct fault {
    number node, origin, child, kind;
};

struct step {
    std::string name;
    number node, argument;
};

struct setting {
    std::size_t at; // the number of steps before it
    std::string name;
    number argument;
};

struct world {
    number items, window, workers, burst, rounds, nap_micros;
    std::vector<number> before;
    std::vector<fault> faults;
    std::string from, how, end;
    number limit;
    std::vector<step> steps;
    std::vector<setting> settings;

    anabranch::cancel_token token;
    std::mutex guard;
    std::vector<std::vector<number>> logs;
    std::vector<number> delivered;
    std::vector<std::string> violations;
    std::atomic<number> count{0};
    std::atomic<bool> is_cancelled{false};
    number next = 0, asked = 0;
    bool is_over = false;

    explicit world(std::istream &told) {
        std::size_t size;
        told >> items >> window >> workers >> burst >> rounds >> nap_micros >> size;
        logs.resize(size);
        told >> size;
        before.resize(size);
        for (number &count : before) told >> count;
        told >> size;
        faults.resize(size);
        for (fault &one : faults) told >> one.node >> one.origin >> one.child >> one.kind;
        told >> from >> how >> end >> limit >> size;
        steps.resize(size);
        for (step &one : steps) told >> one.name >> one.node >> one.argument;
        told >> size;
        settings.resize(size);
        for (setting &one : settings) told >> one.at >> one.name >> one.argument;
    }

    void violation(std::string what) {
        std::lock_guard<std::mutex> lock(guard);
        violations.push_back(std::move(what));
    }

    // A call of a node, which fails if this was planted.
    void visit(number node, number origin) {
        number dice = mix(origin, node);
        volatile number result = dice;
        for (number round = 0, most = rounds == 0 ? 0 : dice % rounds; round < most; round++) result = mix(result, round);
        if (nap_micros > 0) std::this_thread::sleep_for(std::chrono::microseconds(dice % nap_micros));
        for (const fault &one : faults) {
            if (one.node != node || one.origin != origin || one.child != NO_CHILD) continue;
            if (one.kind == 4) {
                token.drain();
                return;
            }
            if (one.kind >= 2) {
                is_cancelled = true;
                token.cancel();
            }
            if (one.kind != 2) throw planted{node, origin};
            return;
        }
    }

    // A call of a serial step.
    void meet(number node, const item &it) {
        {
            std::lock_guard<std::mutex> lock(guard);
            logs[node].push_back(it.key);
        }
        visit(node, it.origin);
    }

    void deliver(const item &it) {
        delivered.push_back(it.key);
        count++;
        visit(SINK, it.origin);
    }

    // The next item of the source. It waits until the sink has what the loop would have given it by then.
    std::optional<item> give() {
        number least = next < before.size() ? before[next] : 0;
        for (auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30); count < least;) {
            std::this_thread::yield();
            if (std::chrono::steady_clock::now() < limit) continue;
            violation("the source waits, and the loop's sink has " + std::to_string(least) + " items");
            before.clear(); // it does not wait again
            break;
        }
        if (is_over) violation("the source was asked after its end or its failure");
        number origin = next++;
        is_over = origin >= items;
        if (is_over) return std::nullopt;
        asked++;
        is_over = true; // if it fails
        visit(SOURCE, origin);
        is_over = false;
        return item(mix(origin, 0), origin);
    }
};

template <class Sent>
anabranch::stream<item, Sent> add(anabranch::stream<item, Sent> line, world &w, const step &s) {
    const number node = s.node, argument = s.argument;
    auto map = [&w, node](item it) { return w.visit(node, it.origin), std::move(it).marked(node); };
    auto kept = [node](item it) { return keeps(it.key, node) ? std::optional(std::move(it).marked(node)) : std::nullopt; };
    if (s.name == "map") return std::move(line).map(map);
    if (s.name == "map_init") {
        auto home = [] { return std::make_unique<std::thread::id>(std::this_thread::get_id()); };
        return std::move(line).map_init(home, [&w, map](std::unique_ptr<std::thread::id> &home, item it) {
            if (*home != std::this_thread::get_id()) w.violation("a worker's state was met on another thread");
            return map(std::move(it));
        });
    }
    if (s.name == "inspect") return std::move(line).inspect([&w, node](const item &it) { w.visit(node, it.origin); });
    if (s.name == "filter")
        return std::move(line).filter([&w, node](const item &it) { return w.visit(node, it.origin), keeps(it.key, node); });
    if (s.name == "filter_map")
        return std::move(line).filter_map([&w, node, kept](item it) { return w.visit(node, it.origin), kept(std::move(it)); });
    if (s.name == "serial_map")
        return std::move(line).serial_map([&w, node](item it) { return w.meet(node, it), std::move(it).marked(node); });
    if (s.name == "serial_filter_map")
        return std::move(line).serial_filter_map([&w, node, kept](item it) { return w.meet(node, it), kept(std::move(it)); });
    if (s.name == "skip")
        return std::move(line).serial_filter_map([argument, seen = number{0}](item it) mutable {
            return ++seen > argument ? std::optional(std::move(it)) : std::nullopt;
        });
    if (s.name == "step_by")
        return std::move(line).serial_filter_map([argument, seen = number{0}](item it) mutable {
            return seen++ % argument == 0 ? std::optional(std::move(it)) : std::nullopt;
        });
    if (s.name == "enumerate")
        return std::move(line).serial_map([seen = number{0}](item it) mutable { return std::move(it).marked(seen++); });
    if (s.name == "take_while")
        return std::move(line).take_while([&w, node, argument](const item &it) { return w.meet(node, it), it.origin < argument; });
    if (s.name == "unordered") return std::move(line).unordered();
    std::cerr << "no step is named " << s.name << '\n';
    std::abort();
}

template <class Sent>
anabranch::stream<item, Sent> set(anabranch::stream<item, Sent> line, const setting &s) {
    const number argument = s.argument;
    if (s.name == "replicate") return std::move(line).replicate(static_cast<std::int64_t>(argument));
    if (s.name == "name") return std::move(line).name("step");
    if (s.name == "title") return std::move(line).title("shape");
    if (s.name == "spin") return std::move(line).spin();
    if (s.name == "trace") return std::move(line).trace();
    if (s.name == "on_progress") return std::move(line).on_progress([](const anabranch::progress &) {});
    if (s.name == "plan") {
        if (line.plan().empty()) std::abort();
        return line;
    }
    if (s.name == "window_bytes") return std::move(line).window_bytes(argument, [](const item &it) { return it.key % 8; });
    std::cerr << "no setting is named " << s.name << '\n';
    std::abort();
}

template <class Sent>
anabranch::stream<item, Sent> build(world &w, anabranch::stream<item, Sent> line) {
    line = std::move(line).window(static_cast<std::int64_t>(w.window)).burst(static_cast<std::int64_t>(w.burst)).cancel_by(w.token);
    line = w.how == "inline" ? std::move(line).run_inline() : std::move(line).workers(static_cast<std::int64_t>(w.workers));
    for (std::size_t at = 0; at <= w.steps.size(); at++) {
        if (at > 0) line = add(std::move(line), w, w.steps[at - 1]);
        for (const setting &one : w.settings)
            if (one.at == at) line = set(std::move(line), one);
    }
    return line;
}

// Runs a stream to its end, and says how it ended.
inline std::string ended(world &w) {
    auto deliver = [&w](item it) { w.deliver(it); };
    if (w.from == "sent") {
        auto started = build(w, anabranch::sent<item>()).start(deliver);
        while (auto it = w.give())
            if (!started.send(*std::move(it))) {
                w.asked--; // it is not accepted
                break;
            }
        started.finish();
        return "complete";
    }
    auto source = anabranch::from_fn([&w] { return w.give(); });
    auto line = build(w, w.from == "blocks" ? std::move(source).in_blocks() : std::move(source));
    if (w.end == "for_each") {
        anabranch::report report;
        if (w.how == "reported") line = std::move(line).report(report);
        std::move(line).for_each(deliver);
        if (w.how == "reported" && report.text().empty()) w.violation("the report is empty");
    } else if (w.end == "fold") {
        number sum = std::move(line).fold(number{0}, [&w](number all, item it) { return w.deliver(it), mix(all, it.key); });
        number expected = 0;
        for (number key : w.delivered) expected = mix(expected, key);
        if (sum != expected) w.violation("the fold gave another value");
    } else if (w.end == "count") {
        std::size_t count = std::move(line).serial_map([&w](item it) { return w.deliver(it), it.origin; }).count();
        if (count != w.delivered.size() && !w.is_cancelled) w.violation("the count is another one");
    } else if (w.end == "collect") {
        auto keys = std::move(line).serial_map([&w](item it) { return w.deliver(it), it.key; }).template collect<std::vector<number>>();
        if (keys != w.delivered && !w.is_cancelled) w.violation("other items were collected");
    } else {
        auto found = std::move(line).find([&w](const item &it) { return w.deliver(it), it.origin >= w.limit; });
        if (found) return "found " + std::to_string(found->key);
    }
    return "complete";
}

inline void print(const std::string &name, const std::vector<number> &numbers) {
    std::cout << name;
    for (number one : numbers) std::cout << ' ' << one;
    std::cout << '\n';
}

// AddressSanitizer takes what a thread was given for lost until the thread has begun. So this waits until each has a name of its own.
inline void wait_for_threads() {
#ifdef __SANITIZE_ADDRESS__
    auto name = [](const std::filesystem::path &task) {
        std::string text;
        std::getline(std::ifstream(task / "comm"), text);
        return text;
    };
    std::error_code none;
    const std::filesystem::path self = "/proc/self", tasks = self / "task", first = tasks / std::to_string(getpid());
    for (bool is_waiting = true; is_waiting;) {
        is_waiting = false;
        for (const auto &task : std::filesystem::directory_iterator(tasks, none))
            is_waiting |= task.path() != first && name(task.path()) == name(first);
        if (is_waiting) std::this_thread::yield();
    }
#endif
}

// Runs the cases of a file, one in each line.
inline int run(const char *file) {
    std::ifstream all(file);
    for (std::string line; std::getline(all, line);) {
        alarm(60); // ends a case that hangs
        std::istringstream told(line);
        world w(told);
        std::string end;
        try {
            end = ended(w);
        } catch (const planted &thrown) {
            end = "panic " + std::to_string(thrown.node) + ' ' + std::to_string(thrown.origin) + " 0";
        }
        if (items_left != 0) w.violation(std::to_string(items_left) + " items are left");
        print("delivered", w.delivered);
        for (std::size_t node = 0; node < w.logs.size(); node++) print("log " + std::to_string(node), w.logs[node]);
        std::cout << "asked " << w.asked << '\n';
        for (const std::string &what : w.violations) std::cout << "violation " << what << '\n';
        std::cout << end << '\n';
    }
    wait_for_threads();
    return 0;
}

} // namespace drawn
