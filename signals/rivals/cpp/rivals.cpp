// The synthetic benchmark of `dsp exploration`, one producer and one consumer, with OpenMP tasks and oneTBB.
//
// The words of a request are the name of a form, the steps of work for each index, the number of indices, and the indices in a
// burst. The digest is the sum that the consumer found.
//
// The forms whose library is missing when this file is compiled, -fopenmp or oneTBB, are left out.

#include "../../../measure/harness/rival.hpp"

#include <algorithm>
#include <atomic>

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
    Work work;
    uint64_t bursts, burst;

    // The most bursts between the producer and the consumer.
    uint64_t slots() const { return std::max<uint64_t>(HORIZON / burst, 2); }

    // Does the work for a number, as `exploration/work.rs`.
    uint32_t done(uint32_t number) const { return work.rounds == 0 ? number : uint32_t(work.run(number) >> 32); }

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

Form form(const std::string &name, const std::string &version, uint32_t (*run)(const Task &)) {
    return {name, version, [run](std::istream &words) {
        Task task{{word<uint32_t>(words)}, word<uint64_t>(words), std::max<uint64_t>(word<uint64_t>(words), 1)};
        task.bursts = std::max<uint64_t>((task.bursts + task.burst - 1) / task.burst, 1);
        return timed([&] { return run(task); });
    }};
}

} // namespace

int main() {
#ifdef WITH_TBB
    tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
#endif
    return serve({
        form("loop", __VERSION__, loop),
#ifdef _OPENMP
        form("openmp-depend", std::to_string(_OPENMP), openmp_depend),
        form("openmp-task", std::to_string(_OPENMP), openmp_task),
#endif
#ifdef WITH_TBB
        form("tbb-pipeline", TBB_VERSION_STRING, tbb_pipeline),
        form("tbb-group", TBB_VERSION_STRING, tbb_group),
#endif
    });
}
