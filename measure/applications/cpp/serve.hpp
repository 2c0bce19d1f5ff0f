// Runs a variant once for each line of the input, and answers as `serve` in ../applications/src/serve.rs does.
#pragma once

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

// As `Output` in ../applications/src/output.rs: a hash of the results that depends on their order.
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

// Runs `once`, which writes to an output, for each line of the input.
template <class Once>
void answer(double amount, Once once) {
    forget_peak();
    double data = memory("VmRSS:");
    std::printf("ready %.0f\n", amount);
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
        double before = processor_seconds();
        Output output;
        once(output);
        double seconds = output.elapsed();
        std::printf("%llu %.9f %.9f %.9f %.0f NaN\n", static_cast<unsigned long long>(output.hash()), seconds, output.first(),
                    processor_seconds() - before, std::fmax(0, memory("VmHWM:") - data));
        std::fflush(stdout);
    }
}
