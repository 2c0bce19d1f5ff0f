// The synthetic benchmark of `dsp exploration`, one producer and one consumer, with OpenMP tasks and oneTBB.
//
// After a line with the name and the version of each form, and one with the word `ready`, the program reads requests of
// five words: the name of a form, the steps of work for each index, the number of indices, the indices in a burst, and
// the number of rounds. It answers each with a line: the sum that the consumer found, and the nanoseconds for each
// index of each round. An answer that begins with `failed` says why there is none.
//
// The forms whose library is missing when this file is compiled, -fopenmp or oneTBB, are left out.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<tbb/parallel_pipeline.h>)
#define WITH_TBB
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_group.h>
#include <tbb/version.h>
#endif

namespace {

// The most indices between the producer and the consumer, unless two bursts are more. The same as in the network.
constexpr uint64_t HORIZON = 1 << 14;
// The most bursts in the pipeline of oneTBB.
constexpr uint64_t TOKENS = 64;

// The task of a form.
struct Task {
    uint32_t steps;
    uint64_t bursts, burst;

    // The most bursts between the producer and the consumer.
    uint64_t slots() const { return std::max<uint64_t>(HORIZON / burst, 2); }

    // Does the work for a number. The result is bit for bit that of `exploration/work.rs`.
    uint32_t done(uint32_t number) const {
        if (steps == 0) {
            return number;
        }
        uint64_t state = number;
        for (uint32_t step = 0; step < steps; step++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            // Like Rust's `black_box`: the value goes through memory, and the compiler cannot optimise it away.
            asm volatile("" : : "r"(&state) : "memory");
        }
        return uint32_t(state >> 32);
    }

    // Stores the numbers of a burst, or of any indices.
    void store(uint64_t first, uint32_t *slots, uint64_t count) const {
        for (uint64_t at = 0; at < count; at++) {
            slots[at] = done(uint32_t(first + at));
        }
    }

    // Adds the work for the next numbers to the consumer's sum.
    uint32_t consumed(uint32_t sum, const uint32_t *slots, uint64_t count) const {
        for (uint64_t at = 0; at < count; at++) {
            sum += done(slots[at]);
        }
        return sum;
    }
};

// The loop, which shows whether both compilers generate code of the same speed.
uint32_t loop(const Task &task) {
    uint32_t strip[1024], sum = 0;
    for (uint64_t first = 0, end = task.bursts * task.burst; first < end; first += 1024) {
        uint64_t count = std::min<uint64_t>(1024, end - first);
        task.store(first, strip, count);
        asm volatile("" : : "r"(strip) : "memory");
        sum = task.consumed(sum, strip, count);
    }
    return sum;
}

#ifdef _OPENMP
// A task for each burst on each side. A consumer depends on its producer, and a slot's next producer on its consumer.
uint32_t openmp_depend(const Task &task) {
    std::vector<uint32_t> memory(task.slots() * task.burst);
    std::atomic<uint32_t> sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (uint64_t burst = 0; burst < task.bursts; burst++) {
        uint32_t *slot = memory.data() + burst % task.slots() * task.burst;
#pragma omp task depend(out : slot[0]) firstprivate(slot, burst) shared(task)
        task.store(burst * task.burst, slot, task.burst);
#pragma omp task depend(in : slot[0]) firstprivate(slot) shared(task, sum)
        sum.fetch_add(task.consumed(0, slot, task.burst), std::memory_order_relaxed);
    }
    return sum;
}

// One thread produces the bursts of a window and makes a task of consuming each.
uint32_t openmp_task(const Task &task) {
    std::vector<uint32_t> memory(task.slots() * task.burst);
    std::atomic<uint32_t> sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (uint64_t burst = 0; burst < task.bursts; burst++) {
        if (burst != 0 && burst % task.slots() == 0) {
#pragma omp taskwait
        }
        uint32_t *slot = memory.data() + burst % task.slots() * task.burst;
        task.store(burst * task.burst, slot, task.burst);
#pragma omp task firstprivate(slot) shared(task, sum)
        sum.fetch_add(task.consumed(0, slot, task.burst), std::memory_order_relaxed);
    }
    return sum;
}
#endif

#ifdef WITH_TBB
// Two serial filters.
uint32_t tbb_pipeline(const Task &task) {
    uint64_t tokens = std::min(task.slots(), TOKENS), burst = 0;
    std::vector<uint32_t> memory(tokens * task.burst);
    uint32_t sum = 0;
    auto produce = [&](tbb::flow_control &control) -> uint32_t * {
        if (burst == task.bursts) {
            control.stop();
            return nullptr;
        }
        uint32_t *slot = memory.data() + burst % tokens * task.burst;
        task.store(burst++ * task.burst, slot, task.burst);
        return slot;
    };
    auto consume = [&](uint32_t *slot) { sum = task.consumed(sum, slot, task.burst); };
    auto serial = tbb::filter_mode::serial_in_order;
    tbb::parallel_pipeline(
        tokens,
        tbb::make_filter<void, uint32_t *>(serial, produce) & tbb::make_filter<uint32_t *, void>(serial, consume)
    );
    return sum;
}

// The caller produces the bursts of a window and makes a task of consuming each.
uint32_t tbb_group(const Task &task) {
    std::vector<uint32_t> memory(task.slots() * task.burst);
    std::atomic<uint32_t> sum = 0;
    tbb::task_group group;
    for (uint64_t burst = 0; burst < task.bursts; burst++) {
        if (burst != 0 && burst % task.slots() == 0) {
            group.wait();
        }
        uint32_t *slot = memory.data() + burst % task.slots() * task.burst;
        task.store(burst * task.burst, slot, task.burst);
        group.run([&task, &sum, slot] {
            sum.fetch_add(task.consumed(0, slot, task.burst), std::memory_order_relaxed);
        });
    }
    group.wait();
    return sum;
}
#endif

struct Form {
    std::string name, version;
    uint32_t (*run)(const Task &);
};

const std::vector<Form> FORMS = {
    {"loop", __VERSION__, loop},
#ifdef _OPENMP
    {"openmp-depend", std::to_string(_OPENMP), openmp_depend},
    {"openmp-task", std::to_string(_OPENMP), openmp_task},
#endif
#ifdef WITH_TBB
    {"tbb-pipeline", TBB_VERSION_STRING, tbb_pipeline},
    {"tbb-group", TBB_VERSION_STRING, tbb_group},
#endif
};

std::string answer(const std::string &line) {
    std::istringstream words(line);
    std::string name, rest;
    uint64_t steps, indices, burst, rounds;
    if (!(words >> name >> steps >> indices >> burst >> rounds) || words >> rest || steps > UINT32_MAX) {
        return "failed: a request has five words: NAME STEPS INDICES BURST ROUNDS";
    }
    for (const Form &form : FORMS) {
        if (form.name != name) {
            continue;
        }
        burst = std::max<uint64_t>(burst, 1);
        Task task = {uint32_t(steps), std::max<uint64_t>((indices + burst - 1) / burst, 1), burst};
        std::string times;
        uint32_t sum = 0;
        for (uint64_t round = 0; round < std::max<uint64_t>(rounds, 1); round++) {
            auto begin = std::chrono::steady_clock::now();
            uint32_t found = form.run(task);
            std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
            if (round != 0 && found != sum) {
                return "failed: the rounds found different sums";
            }
            sum = found;
            times += " " + std::to_string(took.count() / double(task.bursts * task.burst));
        }
        return std::to_string(sum) + times;
    }
    return "failed: no form is called \"" + name + "\"";
}

} // namespace

int main() {
#ifdef WITH_TBB
    tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
#endif
    for (const Form &form : FORMS) {
        std::cout << form.name << ' ' << form.version << '\n';
    }
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::cout << answer(line) << std::endl;
    }
}
