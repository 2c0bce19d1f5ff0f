// What all rivals in C++ share: the work, the digest, and how they talk with the program that measures them. The other side is
// ../harness/src/rival.rs, which has a description.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

// As `Work` in ../harness/src/work.rs.
struct Work {
    std::uint32_t rounds = 0;

    [[gnu::noinline]] std::uint64_t run(std::uint64_t item) const {
        std::uint64_t x = (item * 0x9E3779B97F4A7C15u) | 1;
        for (std::uint32_t n = rounds; n > 0; --n) {
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

struct Answer {
    double seconds;
    std::uint64_t digest;
    std::vector<double> more = {};
};

// Runs `run`, which returns the digest of its results, and measures its time.
template <class Run>
Answer timed(Run run) {
    auto begin = std::chrono::steady_clock::now();
    std::uint64_t digest = run();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    return {seconds.count(), digest};
}

// Something that can be run, with its version. `answer` reads the words of a request behind the name.
struct Form {
    std::string name, version;
    std::function<Answer(std::istream &)> answer;
};

// The next word of a request.
template <class T>
T word(std::istream &words) {
    T value;
    if (!(words >> value)) throw std::runtime_error("a number is missing");
    return value;
}

// Answers the requests on standard input. `said` follows the word `ready`.
inline int serve(const std::vector<Form> &forms, const std::string &said = "") {
    for (const Form &form : forms) std::printf("%s %s\n", form.name.c_str(), form.version.c_str());
    std::printf("ready%s%s\n", said.empty() ? "" : " ", said.c_str());
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        try {
            const Form *asked = nullptr;
            for (const Form &form : forms) {
                if (form.name == name) asked = &form;
            }
            if (!asked) throw std::runtime_error("no form is called \"" + name + "\"");
            Answer answer = asked->answer(words);
            std::printf("%.9f %llu", answer.seconds, static_cast<unsigned long long>(answer.digest));
            for (double number : answer.more) std::printf(" %.9f", number);
            std::printf("\n");
        } catch (const std::exception &problem) {
            std::printf("failed: %s\n", problem.what());
        }
        std::fflush(stdout);
    }
    return 0;
}
