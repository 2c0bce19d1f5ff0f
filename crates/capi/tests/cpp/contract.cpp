// The contract, checked from C++: each promise has tests, and `--cases FILE` runs streams that the generator has drawn.
#include "anabranch.hpp"
#include "cases.hpp"
#include "check.hpp"
#include "regions.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <condition_variable>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace std::chrono_literals;

// Each number that a program can set, at both ends of its range: either the items are those of the loop, or the number
// is refused.
CASE(numbers_at_both_ends_of_their_ranges_are_taken_or_refused) {
    auto check = [](std::int64_t most, auto set) {
        using limits = std::numeric_limits<std::int64_t>;
        for (std::int64_t number : {limits::min(), std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, most, most + 1, limits::max()}) {
            bool is_allowed = 1 <= number && number <= most;
            try {
                long sum = 0;
                set(anabranch::iota(0L, 100L), number).for_each([&](long n) { sum += n; });
                CHECK(is_allowed && sum == 4950);
            } catch (const std::invalid_argument &) {
                CHECK(!is_allowed);
            }
        }
    };
    auto same = [](long n) { return n; };
    const std::int64_t threads = std::int64_t{1} << 16, items = std::int64_t{1} << 31;
    check(threads, [&](auto stream, std::int64_t number) { return std::move(stream).map(same).workers(number); });
    check(threads, [&](auto stream, std::int64_t number) { return std::move(stream).map(same).replicate(number); });
    check(items, [&](auto stream, std::int64_t number) { return std::move(stream).map(same).window(number); });
    check(items, [&](auto stream, std::int64_t number) { return std::move(stream).map(same).burst(number); });
}

// ---- C1, C2: order and failures ----

CASE(the_first_exception_in_order_is_thrown_and_exactly_the_items_before_it_were_delivered) {
    for (int round = 0; round < 20; round++) {
        std::vector<int> seen;
        bool is_caught = false;
        try {
            anabranch::iota(0, 1000)
                .workers(4)
                .map([](int item) {
                    if (item == 100) std::this_thread::sleep_for(2ms); // those behind it fail earlier in time
                    if (item >= 100) throw std::out_of_range(std::to_string(item));
                    return item;
                })
                .for_each([&](int item) { seen.push_back(item); });
        } catch (const std::out_of_range &thrown) {
            is_caught = thrown.what() == std::string("100");
        }
        std::vector<int> expected(100);
        std::iota(expected.begin(), expected.end(), 0);
        CHECK(is_caught && seen == expected);
    }
}

CASE(exceptions_of_sources_serial_stages_states_and_ends_reach_the_caller) {
    auto message = [](auto run) {
        try {
            run();
        } catch (const char *thrown) {
            return std::string(thrown);
        }
        return std::string("nothing");
    };
    int asked = 0;
    auto source = [&]() -> std::optional<int> {
        if (++asked == 50) throw "source";
        return asked;
    };
    int sum = 0;
    CHECK(message([&] { anabranch::from_fn(source).for_each([&](int item) { sum += item; }); }) == "source");
    CHECK(sum == 49 * 50 / 2);
    CHECK(message([] { anabranch::iota(0, 9).serial_map([](int item) { return item == 4 ? throw "serial" : item; }).count(); }) == "serial");
    CHECK(message([] { anabranch::iota(0, 9).for_each([](int item) { if (item == 4) throw "end"; }); }) == "end");
    CHECK(message([] {
              anabranch::iota(0, 9).map_init([]() -> int { throw "state"; }, [](int &, int item) { return item; }).count();
          }) == "state");
    CHECK(message([] { anabranch::iota(0, 9).count(); }) == "nothing");
}

// ---- C3, C4: bounds ----

CASE(no_more_than_a_window_of_items_is_in_flight) {
    for (int window : {1, 2, 7, 64}) {
        std::atomic<int> in_flight{0}, most{0};
        auto source = [&, left = 500]() mutable -> std::optional<int> {
            if (left-- == 0) return std::nullopt;
            int now = ++in_flight, seen = most;
            while (now > seen && !most.compare_exchange_weak(seen, now)) {}
            return left;
        };
        anabranch::from_fn(source).workers(3).window(window).map([](int item) { return item; }).for_each([&](int item) {
            if (item % 50 == 0) std::this_thread::sleep_for(200us);
            --in_flight;
        });
        CHECK(most <= window);
    }
}

CASE(a_loop_that_sends_waits_for_a_slow_end) {
    std::atomic<int> in_flight{0}, most{0};
    auto started = anabranch::sent<int>().workers(2).window(10).map([](int item) { return item; }).start([&](int item) {
        if (item % 50 == 0) std::this_thread::sleep_for(200us);
        --in_flight;
    });
    for (int item = 0; item < 500; item++) {
        int now = ++in_flight, seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {}
        CHECK(started.send(item));
    }
    started.finish();
    CHECK(most <= 10 + 1); // the one that the loop holds while it waits
}

// ---- C6: stopping ----

CASE(a_token_stops_an_endless_stream) {
    anabranch::cancel_token token;
    std::atomic<int> drained{0};
    std::size_t count = anabranch::from_fn([n = 0L]() mutable { return std::optional(n++); })
                            .cancel_by(token)
                            .workers(2)
                            .inspect([&](long item) { if (item == 1000) token.drain(); })
                            .count();
    auto stopped = token.stopped();
    CHECK(stopped && stopped->delivered == count && stopped->dropped == 0);

    anabranch::cancel_token other;
    auto started = anabranch::sent<int>().cancel_by(other).start([&](int) { drained++; });
    CHECK(started.send(1));
    other.cancel();
    while (started.send(2)) {}
    started.finish();
}

CASE(every_item_is_destroyed_exactly_once_however_the_stream_ends) {
    static std::atomic<int> alive{0};
    struct counted {
        int number;
        std::unique_ptr<int> only_moves;
        explicit counted(int number) : number(number), only_moves(new int(number)) { ++alive; }
        counted(counted &&other) noexcept : number(other.number), only_moves(std::move(other.only_moves)) { ++alive; }
        counted &operator=(counted &&) = default;
        ~counted() { --alive; }
    };
    auto stream = [] {
        return anabranch::iota(0, 2000).workers(3).map([](int item) { return counted(item); }).filter([](const counted &c) {
            return c.number % 3 != 0;
        });
    };
    CHECK(stream().serial_map([](counted c) { return c; }).count() == 1333);
    CHECK(alive == 0);
    CHECK(stream().find([](const counted &c) { return c.number == 700; })->number == 700);
    CHECK(alive == 0);
    try {
        stream().for_each([](counted c) { if (c.number == 500) throw c.number; });
    } catch (int number) {
        CHECK(number == 500);
    }
    CHECK(alive == 0);
    { // A stream that is dropped finishes what was sent.
        auto started = anabranch::sent<counted>().map([](counted c) { return c; }).start([](counted) {});
        for (int item = 0; item < 100; item++) started.send(counted(item));
    }
    CHECK(alive == 0);
    { // One that is never run gives its functions back.
        auto held = std::make_shared<int>(0);
        std::weak_ptr<int> watch = held;
        { auto unused = anabranch::iota(0, 3).map([held = std::move(held)](int item) { return item + *held; }); }
        CHECK(watch.expired());
    }
}

// ---- C9, C10: no deadlock, prompt ----

CASE(streams_inside_stages_and_the_smallest_sizes_do_not_hang) {
    for (int workers : {1, 2, 3}) {
        long sum = anabranch::iota(0, 50).workers(workers).window(1).map([](int outer) {
            return anabranch::iota(0, outer).workers(2).window(1).map([](int inner) { return 2L * inner; }).fold(0L, std::plus<>());
        }).fold(0L, std::plus<>());
        CHECK(sum == 50L * 49 * 48 / 3);
        auto started = anabranch::sent<int>().workers(workers).window(1).map([](int item) { return item; }).start([&](int item) { sum -= item; });
        for (int item = 0; item < 100; item++) started.send(item);
        started.finish();
    }
}

CASE(results_reach_the_end_while_the_source_waits) {
    std::mutex mutex;
    std::condition_variable changed;
    int seen = 0;
    auto wait_for = [&](int count) {
        std::unique_lock<std::mutex> lock(mutex);
        CHECK(changed.wait_for(lock, 60s, [&] { return seen >= count; }));
    };
    auto see = [&](int) {
        std::lock_guard<std::mutex> lock(mutex);
        seen++;
        changed.notify_all();
    };
    auto source = [&, given = 0]() mutable -> std::optional<int> {
        if (given == 5) {
            wait_for(5);
            return std::nullopt;
        }
        return given++;
    };
    anabranch::from_fn(source).workers(2).map([](int item) { return item; }).for_each(see);
    seen = 0;
    auto started = anabranch::sent<int>().workers(2).map([](int item) { return item; }).start(see);
    for (int item = 1; item <= 5; item++) {
        started.send(item);
        wait_for(item);
    }
    started.finish();
}

// ---- The types of the builder ----

CASE(sources_take_ranges_of_every_kind) {
    std::vector<std::string> words{"never", "odd", "or", "even"};
    auto length = [](const std::string &word) { return word.size(); };
    CHECK(anabranch::from(words).map(length).collect() == std::vector<std::size_t>{5, 3, 2, 4});
    CHECK(words[0] == "never"); // copies
    CHECK(anabranch::from(std::vector<std::string>(words)).map(length).fold(std::size_t(0), std::plus<>()) == 14);
    std::list<std::unique_ptr<int>> owned;
    owned.push_back(std::make_unique<int>(7));
    CHECK(anabranch::from(std::move(owned)).map([](std::unique_ptr<int> item) { return *item; }).collect() == std::vector<int>{7});
    int numbers[] = {1, 2, 3};
    CHECK(anabranch::from(numbers).collect<std::list<int>>() == std::list<int>{1, 2, 3});
    CHECK(anabranch::from(words.begin() + 1, words.begin() + 3).count() == 2);
    CHECK(anabranch::from(std::map<int, char>{{1, 'a'}}).map([](std::pair<const int, char> p) { return p.second; }).collect<std::string>() == "a");
}

CASE(functions_may_be_anything_that_is_called) {
    struct scale {
        double by;
        double operator()(int item) const { return by * item; }
    };
    double (*plain)(double) = [](double x) { return x + 1; };
    CHECK(anabranch::iota(0, 3).map(scale{0.5}).map(plain).collect() == std::vector<double>{1, 1.5, 2});
    struct wide {
        alignas(64) char bytes[200];
    };
    CHECK(anabranch::iota(0, 3).map([](int i) { wide w{}; w.bytes[199] = char('a' + i); return w; }).map([](wide w) {
        return w.bytes[199];
    }).collect<std::string>() == "abc");
}

CASE(unordered_streams_give_the_same_items) {
    auto seen = anabranch::iota(0, 500).workers(4).unordered().map([](int item) { return item; }).collect();
    std::sort(seen.begin(), seen.end());
    CHECK(seen.size() == 500 && seen.front() == 0 && seen.back() == 499);
}

CASE(at_most_the_replicas_of_a_stage_run_at_once) {
    std::atomic<int> inside{0}, most{0};
    auto enter = [&](int item) {
        int now = ++inside, seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {}
        std::this_thread::sleep_for(100us);
        --inside;
        return item;
    };
    anabranch::iota(0, 100).workers(4).map(enter).replicate(2).map([](int item) { return item; }).replicate(3).count();
    CHECK(most <= 2);
}

CASE(plans_and_reports_name_the_stages) {
    anabranch::report report;
    auto stream = anabranch::iota(0, 100).name("numbers").title("squares").workers(2).map([](int i) { return i * i; }).name("square").report(report);
    CHECK(stream.plan().find("square") != std::string::npos);
    CHECK(stream.plan(anabranch::format::dot).find("digraph") != std::string::npos);
    CHECK(stream.plan(anabranch::format::json).find("\"square") != std::string::npos);
    CHECK(stream.plan(anabranch::format::svg).find("<svg") != std::string::npos);
    std::uint64_t last = 0;
    CHECK(std::move(stream).on_progress([&](anabranch::progress p) { last = p.items; }).count() == 100);
    CHECK(last == 100);
    CHECK(report.text().find("numbers") != std::string::npos && report.json().find("\"items\": 100") != std::string::npos);
    CHECK(report.svg().find("<svg") != std::string::npos);
}

CASE(a_source_that_never_waits_gives_the_same) {
    std::vector<std::string> words;
    for (int number = 0; number < 3000; number++) words.push_back(std::to_string(number) + " and more than fits into a string");
    auto twice = [](std::string word) { return word + word; };
    std::vector<std::string> expected;
    for (const std::string &word : words) expected.push_back(twice(word));
    std::deque<std::string> deque(words.begin(), words.end());
    std::list<std::string> list(words.begin(), words.end());
    CHECK(anabranch::from(words).workers(2).map(twice).collect() == expected);
    CHECK(anabranch::from(std::move(deque)).workers(2).map(twice).collect() == expected);
    CHECK(anabranch::from(list).workers(2).map(twice).collect() == expected);
    CHECK(anabranch::from(list).in_blocks().workers(2).window(3).map(twice).serial_map(twice).count() == 3000);
    CHECK(anabranch::iota(0, 10).plan() == anabranch::from(std::array<int, 3>()).plan());
    std::vector<long> seen;
    try {
        anabranch::iota(0L, 10000L).workers(2).map([](long n) { return n == 777 ? throw n : n; }).for_each([&](long n) { seen.push_back(n); });
        CHECK(false);
    } catch (long failed) {
        CHECK(failed == 777 && seen.size() == 777 && seen.back() == 776);
    }
    CHECK(*anabranch::iota(0, 1 << 30).workers(2).map([](int n) { return 3 * n; }).find([](int n) { return n == 900; }) == 900);
}

CASE(a_window_in_bytes_holds) {
    std::atomic<long> bytes{0}, most{0};
    auto source = [&, left = 100]() mutable -> std::optional<std::string> {
        if (left-- == 0) return std::nullopt;
        long now = bytes += 1000, seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {}
        return std::string(1000, 'x');
    };
    anabranch::from_fn(source).window_bytes(5000, [](const std::string &s) { return s.size(); }).workers(2).map([](std::string s) {
        return s;
    }).for_each([&](std::string s) { bytes -= static_cast<long>(s.size()); });
    CHECK(most <= 6000);
}

CASE(settings_out_of_range_are_refused) {
    auto is_refused = [](auto run) {
        try {
            run();
        } catch (const std::invalid_argument &refused) {
            return std::string(refused.what()).size() > 10;
        }
        return false;
    };
    CHECK(is_refused([] { anabranch::iota(0, 3).workers(0).count(); }));
    CHECK(is_refused([] { anabranch::iota(0, 3).window(-1).count(); }));
    CHECK(is_refused([] { anabranch::iota(0, 3).replicate(2).count(); }));
    CHECK(is_refused([] { anabranch::iota(0, 3).serial_map([](int i) { return i; }).replicate(2).count(); }));
    CHECK(is_refused([] { anabranch::sent<int>().in_blocks().start([](int) {}); }));
    CHECK(is_refused([] { anabranch::sent<int>().run_inline().start([](int) {}); }));
    // Settings of the source are refused after each kind of stage: the items have other types there.
    auto weigh = [](const auto &) { return 8u; };
    auto longer = [](int i) { return std::string(100, char('a' + i)); };
    auto after_each_stage = [&](auto set) {
        CHECK(is_refused([&] { set(anabranch::iota(0, 3).map(longer)).count(); }));
        CHECK(is_refused([&] { set(anabranch::iota(0, 3).serial_map(longer)).count(); }));
        CHECK(is_refused([&] { set(anabranch::iota(0, 3).filter([](int) { return true; })).count(); }));
        CHECK(is_refused([&] { set(anabranch::iota(0, 3).map_init([] { return 1; }, [](int, int i) { return i; })).count(); }));
        CHECK(is_refused([&] { set(anabranch::sent<int>().map(longer)).start([](std::string) {}); }));
    };
    after_each_stage([&](auto stream) { return std::move(stream).window_bytes(50, weigh); });
    after_each_stage([](auto stream) { return std::move(stream).in_blocks(); });
    CHECK(is_refused([&] { anabranch::from(std::list<int>{1}).window_bytes(50, weigh).in_blocks().count(); }));
    CHECK(anabranch::from(std::list<int>{1, 2}).in_blocks().window_bytes(50, weigh).map(longer).count() == 2);
}

// The numbers from 0, as an iterator that notes what is done with it, and fails when it advances past a number.
struct noted {
    int at;
    std::vector<std::string> *notes;
    int last;
    using iterator_category = std::input_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using pointer = const int *;
    using reference = const int &;
    const int &operator*() const { return at; }
    noted &operator++() {
        notes->push_back("advance from " + std::to_string(at));
        if (at == last) throw std::runtime_error("no next number");
        ++at;
        return *this;
    }
    bool operator!=(int end) const { return at != end; }
};

struct noted_range {
    noted first;
    noted begin() const { return first; }
    int end() const { return 100; }
};

CASE(an_iterator_advances_only_when_the_next_item_is_asked_for) {
    for (int last = 0; last < 5; last++) {
        auto run = [](auto stream, std::vector<std::string> &notes) {
            try {
                std::move(stream).run_inline().for_each([&](int n) { notes.push_back("take " + std::to_string(n)); });
            } catch (const std::runtime_error &error) {
                notes.push_back(error.what());
            }
        };
        std::vector<std::string> loop;
        try {
            for (noted at{0, &loop, last}; at != 100; ++at) loop.push_back("take " + std::to_string(*at));
        } catch (const std::runtime_error &error) {
            loop.push_back(error.what());
        }
        std::vector<std::string> iterators, lent, moved;
        run(anabranch::from(noted{0, &iterators, last}, 100), iterators);
        noted_range range{{0, &lent, last}};
        run(anabranch::from(range), lent);
        run(anabranch::from(noted_range{{0, &moved, last}}), moved);
        CHECK(iterators == loop && lent == loop && moved == loop);
    }
}

CASE(a_region_that_is_entered_again_and_again_starts_no_threads) {
    long sum = 0;
    for (int round = 0; round < 300; round++) {
        auto started = anabranch::sent<int>().workers(2).map([](int item) { return item + 1; }).start([&](int item) { sum += item; });
        for (int item = 0; item < 5; item++) started.send(item);
        started.finish();
    }
    CHECK(sum == 300 * 15);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZES_THREADS
#endif
#endif
#if !defined(__SANITIZE_THREAD__) && !defined(SANITIZES_THREADS) // which does not let a child start threads
CASE(a_forked_child_is_told_so_by_what_its_parent_has_started_and_starts_streams_of_its_own) {
    auto idle = anabranch::sent<int>().workers(2).map([](int n) { return n; }).start([](int) {});
    idle.finish(); // its threads are kept for the next stream
    long sum = 0;
    auto started = anabranch::sent<int>().workers(2).map([](int n) { return n; }).start([&](int n) { sum += n; });
    for (int n = 0; n < 100; n++) started.send(n);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        auto says = [](auto call) {
            try {
                call();
            } catch (const std::exception &error) {
                return std::string(error.what()).find("forked") != std::string::npos;
            }
            return false;
        };
        long here = 0;
        auto own = anabranch::sent<int>().workers(2).map([](int n) { return n; }).start([&](int n) { here += n; });
        for (int n = 0; n < 100; n++) own.send(n);
        own.finish();
        bool is_right = here == 4950 && anabranch::iota(0, 100).workers(3).count() == 100;
        is_right &= says([&] { started.send(1); });
        is_right &= says([&] { started.finish(); });
        _exit(is_right ? 0 : 1);
    }
    for (int n = 0; n < 100; n++) started.send(n);
    started.finish();
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0 && sum == 2 * 4950);
}
#endif

int main(int argc, char **argv) {
    if (argc > 2 && std::string(argv[1]) == "--cases") return drawn::run(argv[2]);
    return run_cases(argc, argv);
}
