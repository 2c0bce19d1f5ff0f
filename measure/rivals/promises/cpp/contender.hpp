// What all contenders in C++ share: the work, the digest, and how they talk with the program that measures them.
// `measure_promises::rivals::peer` is the other side.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

// As `Work` in ../../../harness/src/work.rs.
struct Work {
    std::uint32_t rounds;
    bool uneven;

    [[gnu::noinline]] std::uint64_t run(std::uint64_t item) const {
        std::uint64_t x = (item * 0x9E3779B97F4A7C15u) | 1;
        std::uint32_t n = !uneven ? rounds : x >> 60 == 0 ? rounds * 8 : rounds / 2;
        for (; n > 0; --n) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        return x;
    }
};

// As `Digest` there.
struct Digest {
    std::uint64_t value = 0;
    void add(std::uint64_t item) { value = value * 0xD1342543DE82EF95u + item; }
};

struct Job {
    Work work;
    std::uint64_t items;
    // A number that the contender gives a meaning: items under way, items in a chunk, or a way to wait.
    std::size_t setting;
};

// A contender: its name, its version, and the function that runs it and returns the digest.
struct Contender {
    std::string name, version;
    std::uint64_t (*run)(const Job &);
};

// Prints the names and versions of the contenders, and then runs one of them for each line that it reads. Prints its time
// in seconds and its digest.
inline int answer(const std::vector<Contender> &contenders) {
    for (auto &contender : contenders) std::printf("%s %s\n", contender.name.c_str(), contender.version.c_str());
    std::printf("\n");
    std::fflush(stdout);
    std::string name;
    Job job;
    while (std::cin >> name >> job.setting >> job.work.rounds >> job.work.uneven >> job.items) {
        std::uint64_t (*run)(const Job &) = nullptr;
        for (auto &contender : contenders) {
            if (contender.name == name) run = contender.run;
        }
        if (!run) {
            std::fprintf(stderr, "not understood: %s\n", name.c_str());
            return 1;
        }
        auto start = std::chrono::steady_clock::now();
        std::uint64_t digest = run(job);
        std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        std::printf("%.9f %llu\n", seconds.count(), static_cast<unsigned long long>(digest));
        std::fflush(stdout);
    }
    return 0;
}
