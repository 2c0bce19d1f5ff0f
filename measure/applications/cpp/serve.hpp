// Runs a variant for each request, and answers as `serve` in ../programs/src/serve.rs does.
#pragma once

#include "../../harness/rival.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>

// As `Output` in ../programs/src/output.rs: a hash of the results that depends on their order.
class Output {
  public:
    void write(const void *data, std::size_t length) {
        if (!has_result_) {
            has_result_ = true;
            first_ = elapsed();
        }
        auto bytes = static_cast<const unsigned char *>(data);
        std::size_t at = 0;
        for (; at + 8 <= length; at += 8) {
            std::uint64_t word;
            std::memcpy(&word, bytes + at, 8);
            add(word);
        }
        for (; at < length; at++) add(bytes[at]);
        add(length);
        bytes_ += length;
    }
    double elapsed() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }
    double first() const { return has_result_ ? first_ : elapsed(); }
    std::uint64_t hash() const { return hash_ ^ bytes_ * BASE; }

  private:
    static constexpr std::uint64_t BASE = 0xD1342543DE82EF95u;
    void add(std::uint64_t word) {
        hash_ = (hash_ ^ word) * BASE;
        hash_ = hash_ << 29 | hash_ >> 35;
    }
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    bool has_result_ = false;
    double first_ = 0;
    std::uint64_t hash_ = 0, bytes_ = 0;
};

// A field of /proc/self/status in bytes. NaN if the system does not tell.
inline double memory(const std::string &field) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind(field, 0) == 0) return std::strtod(line.c_str() + field.size(), nullptr) * 1024;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

// Lets the peak of the memory begin anew, see proc_pid_clear_refs(5).
inline void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// The processor time of all threads, in seconds.
inline double processor_seconds() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Runs `once`, which writes to an output, for each request.
template <class Once>
void answer(const std::string &variant, const std::string &version, double amount, Once once) {
    forget_peak();
    double data = memory("VmRSS:");
    auto run = [&](std::istream &) -> Answer {
        double before = processor_seconds();
        Output output;
        once(output);
        double seconds = output.elapsed(), processor = processor_seconds() - before;
        return {seconds, output.hash(), {output.first(), processor, std::fmax(0, memory("VmHWM:") - data)}};
    };
    serve({{variant, version, run}}, std::to_string(static_cast<long long>(amount)));
}
