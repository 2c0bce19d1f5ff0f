// Cases of regions: they use `anabranch/spar.hpp` as translated programs do.
#pragma once

#include "check.hpp"

#include <anabranch/spar.hpp>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

// A value that counts how many of it exist, and that finds out if one is destroyed twice.
struct counted {
    static inline std::atomic<long> alive{0};
    std::unique_ptr<std::string> text;
    explicit counted(long number) : text(new std::string(std::to_string(number) + " is some text on the heap")) { alive++; }
    counted(counted &&other) noexcept : text(std::move(other.text)) { alive++; }
    ~counted() { alive--; }
};

// Sends the numbers below `items` to a replicated and a serial stage. The replicated one drops each fifth item, and
// fails at `fails_at`. Returns what the serial stage has seen.
inline std::vector<long> sent_to_a_region(long items, long fails_at, bool is_ordered, unsigned on_demand = 0) {
    using item = anabranch::spar::item<long, counted>;
    std::vector<long> seen;
    anabranch::spar::region region({is_ordered, on_demand, 1});
    try {
        for (long number = 0; number < items; number++) {
            counted value(number);
            if (region.is_new()) {
                region.stage<item>(anabranch::spar::replicate(2, "here", 1), [fails_at](item &of) {
                    long &number = anabranch::spar::get<0>(of);
                    if (number == fails_at) throw number;
                    if (number % 5 == 4) anabranch::spar::drop(of);
                    number *= 2;
                });
                region.stage<item>(anabranch::spar::serial(), [&seen](item &of) {
                    long &number = anabranch::spar::get<0>(of);
                    CHECK(*anabranch::spar::get<1>(of).text == std::to_string(number / 2) + " is some text on the heap");
                    seen.push_back(number);
                });
                region.start<item>();
            }
            region.send<item>(anabranch::spar::copy<long>(number), anabranch::spar::give<counted>(value));
        }
    } catch (...) {
        region.failed();
    }
    region.finish();
    return seen;
}

CASE(a_region_sends_every_item_once_and_destroys_each_of_them) {
    for (long items : {0, 1, 63, 64, 65, 5000}) {
        std::vector<long> expected;
        for (long number = 0; number < items; number++) {
            if (number % 5 != 4) expected.push_back(2 * number);
        }
        CHECK(sent_to_a_region(items, -1, true) == expected);
        CHECK(sent_to_a_region(items, -1, true, 1) == expected);
        std::vector<long> unordered = sent_to_a_region(items, -1, false);
        CHECK(std::multiset<long>(unordered.begin(), unordered.end()) == std::multiset<long>(expected.begin(), expected.end()));
        CHECK(counted::alive == 0);
    }
}

CASE(a_region_that_fails_destroys_the_items_that_are_left) {
    for (long fails_at : {0L, 40L, 3000L}) {
        try {
            sent_to_a_region(5000, fails_at, true);
            CHECK(false);
        } catch (long failed) {
            CHECK(failed == fails_at);
        }
        CHECK(counted::alive == 0);
    }
}

CASE(memory_of_items_is_used_again) {
    using recycler = anabranch::detail::recycler<counted>;
    recycler items;
    std::set<counted *> places;
    for (long round = 0; round < 1000; round++) {
        counted *one = items.make(round), *other = items.make(-round);
        CHECK(one != other && counted::alive == 2);
        places.insert(one);
        places.insert(other);
        recycler::destroy(one);
        recycler::destroy(other);
    }
    CHECK(places.size() <= 64);
    // An item that lives for long does not keep the others from being used again.
    counted *old = items.make(1);
    places.clear();
    for (long round = 0; round < 1000; round++) {
        counted *one = items.make(round);
        CHECK(one != old);
        places.insert(one);
        recycler::destroy(one);
    }
    CHECK(places.size() <= 64);
    recycler::destroy(old);
    struct throws {
        explicit throws(bool does) {
            if (does) throw 1;
        }
    };
    anabranch::detail::recycler<throws> others;
    throws *first = others.make(false);
    try {
        others.make(true);
        CHECK(false);
    } catch (int) {
    }
    others.destroy(others.make(false));
    others.destroy(first);
}

CASE(any_thread_may_destroy_an_item) {
    struct large {
        alignas(128) long numbers[300];
        explicit large(long of) { numbers[0] = numbers[299] = of; }
    };
    constexpr long ITEMS = 3000, THREADS = 3;
    anabranch::detail::recycler<large> items;
    std::vector<std::atomic<large *>> mail(64);
    std::vector<std::thread> threads;
    std::atomic<long> sum{0};
    for (long thread = 0; thread < THREADS; thread++) {
        threads.emplace_back([&, thread] {
            for (long number = thread; number < ITEMS; number += THREADS) {
                large *item;
                while ((item = mail[static_cast<std::size_t>(number) % mail.size()].exchange(nullptr)) == nullptr) {
                    std::this_thread::yield();
                }
                sum += item->numbers[0] + item->numbers[299];
                anabranch::detail::recycler<large>::destroy(item);
            }
        });
    }
    for (long number = 0; number < ITEMS; number++) {
        large *item = items.make(number);
        CHECK(reinterpret_cast<std::uintptr_t>(item) % 128 == 0);
        auto &box = mail[static_cast<std::size_t>(number) % mail.size()];
        for (large *empty = nullptr; !box.compare_exchange_weak(empty, item); empty = nullptr) std::this_thread::yield();
    }
    for (std::thread &thread : threads) thread.join();
    CHECK(sum == ITEMS * (ITEMS - 1));
}
