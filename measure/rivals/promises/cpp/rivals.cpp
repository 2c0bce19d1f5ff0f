// Runs the same pipeline on oneTBB's parallel_pipeline and on Taskflow's Pipeline, one run for each line that it is
// sent. It talks as ../src/main.rs does.

#include "contender.hpp"

#include <thread>

#if __has_include(<tbb/parallel_pipeline.h>)
#define HAS_TBB
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/version.h>
#endif

#if __has_include(<taskflow/algorithm/pipeline.hpp>)
#define HAS_TASKFLOW
#include <taskflow/taskflow.hpp>
#include <taskflow/algorithm/pipeline.hpp>
#endif

using Chunk = std::vector<std::uint64_t>;

// The next chunk; an empty one at the end.
static Chunk next_chunk(std::uint64_t &next, const Job &job) {
    Chunk chunk;
    chunk.reserve(job.setting);
    for (; chunk.size() < job.setting && next < job.items; ++next) chunk.push_back(next);
    return chunk;
}

static void run_chunk(const Work &work, Chunk &chunk) {
    for (auto &item : chunk) item = work.run(item);
}

// Chunks that are under way, as many as the guides' examples have.
constexpr std::size_t CHUNKS = 16;

#ifdef HAS_TBB
static std::uint64_t tbb_each(const Job &job) {
    std::uint64_t next = 0;
    Digest digest;
    auto source = [&](tbb::flow_control &control) -> std::uint64_t {
        if (next == job.items) {
            control.stop();
            return 0;
        }
        return next++;
    };
    auto map = [work = job.work](std::uint64_t item) { return work.run(item); };
    auto sink = [&](std::uint64_t item) { digest.add(item); };
    tbb::parallel_pipeline(job.setting,
        tbb::make_filter<void, std::uint64_t>(tbb::filter_mode::serial_in_order, source)
            & tbb::make_filter<std::uint64_t, std::uint64_t>(tbb::filter_mode::parallel, map)
            & tbb::make_filter<std::uint64_t, void>(tbb::filter_mode::serial_in_order, sink));
    return digest.value;
}

static std::uint64_t tbb_chunks(const Job &job) {
    std::uint64_t next = 0;
    Digest digest;
    auto source = [&](tbb::flow_control &control) {
        Chunk chunk = next_chunk(next, job);
        if (chunk.empty()) control.stop();
        return chunk;
    };
    auto map = [work = job.work](Chunk chunk) {
        run_chunk(work, chunk);
        return chunk;
    };
    auto sink = [&](const Chunk &chunk) {
        for (auto item : chunk) digest.add(item);
    };
    tbb::parallel_pipeline(CHUNKS,
        tbb::make_filter<void, Chunk>(tbb::filter_mode::serial_in_order, source)
            & tbb::make_filter<Chunk, Chunk>(tbb::filter_mode::parallel, map)
            & tbb::make_filter<Chunk, void>(tbb::filter_mode::serial_in_order, sink));
    return digest.value;
}
#endif

#ifdef HAS_TASKFLOW
static tf::Executor &executor() {
    static tf::Executor executor(std::thread::hardware_concurrency());
    return executor;
}

static std::uint64_t taskflow_each(const Job &job) {
    std::uint64_t next = 0;
    Digest digest;
    // A line for each token, padded as a careful user would.
    struct alignas(64) Line { std::uint64_t item; };
    std::vector<Line> lines(job.setting);
    tf::Pipeline pipeline(job.setting,
        tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow &flow) {
            if (next == job.items) flow.stop();
            else lines[flow.line()].item = next++;
        }},
        tf::Pipe{tf::PipeType::PARALLEL, [&lines, work = job.work](tf::Pipeflow &flow) {
            auto &line = lines[flow.line()];
            line.item = work.run(line.item);
        }},
        tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow &flow) { digest.add(lines[flow.line()].item); }});
    tf::Taskflow taskflow;
    taskflow.composed_of(pipeline);
    executor().run(taskflow).wait();
    return digest.value;
}

static std::uint64_t taskflow_chunks(const Job &job) {
    std::uint64_t next = 0;
    Digest digest;
    struct alignas(64) Line { Chunk chunk; };
    std::vector<Line> lines(CHUNKS);
    tf::Pipeline pipeline(CHUNKS,
        tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow &flow) {
            auto &chunk = lines[flow.line()].chunk;
            // Its memory is used again: lines are there for that.
            chunk.clear();
            for (; chunk.size() < job.setting && next < job.items; ++next) chunk.push_back(next);
            if (chunk.empty()) flow.stop();
        }},
        tf::Pipe{tf::PipeType::PARALLEL, [&lines, work = job.work](tf::Pipeflow &flow) {
            run_chunk(work, lines[flow.line()].chunk);
        }},
        tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow &flow) {
            for (auto item : lines[flow.line()].chunk) digest.add(item);
        }});
    tf::Taskflow taskflow;
    taskflow.composed_of(pipeline);
    executor().run(taskflow).wait();
    return digest.value;
}

#if TF_VERSION < 400000  // Taskflow 4 has no deferred tokens.
// Every second item needs the results of both neighbours. A token that defers goes through the first pipe behind the tokens
// that it names, and through the third one too: then they have left the second pipe, and their results are there.
static std::uint64_t taskflow_deferred(const Job &job) {
    std::vector<std::uint64_t> results(job.items);
    std::vector<std::size_t> lines(job.setting);
    tf::Pipeline pipeline(job.setting,
        tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow &flow) {
            auto token = flow.token();
            if (token == job.items) {
                flow.stop();
            } else if (token % 2 == 1 && flow.num_deferrals() == 0) {
                flow.defer(token - 1);
                flow.defer(token + 1);
            } else {
                lines[flow.line()] = token;
            }
        }},
        tf::Pipe{tf::PipeType::PARALLEL, [&, work = job.work](tf::Pipeflow &flow) {
            auto item = lines[flow.line()];
            if (item % 2 == 0) results[item] = work.run(item);
        }},
        tf::Pipe{tf::PipeType::SERIAL, [](tf::Pipeflow &) {}},
        tf::Pipe{tf::PipeType::PARALLEL, [&, work = job.work](tf::Pipeflow &flow) {
            auto item = lines[flow.line()];
            if (item % 2 == 0) return;
            auto behind = results[item + 1];
            results[item] = work.run(item ^ results[item - 1] ^ (behind << 1 | behind >> 63));
        }});
    tf::Taskflow taskflow;
    taskflow.composed_of(pipeline);
    executor().run(taskflow).wait();
    Digest digest;
    for (auto result : results) digest.add(result);
    return digest.value;
}
#endif
#endif

int main() {
    std::vector<Contender> contenders;
#ifdef HAS_TBB
    auto dot = [](int number) { return "." + std::to_string(number); };
    auto tbb = std::to_string(TBB_VERSION_MAJOR) + dot(TBB_VERSION_MINOR) + dot(TBB_VERSION_PATCH);
    contenders.push_back({"tbb", tbb, tbb_each});
    contenders.push_back({"tbb-chunks", tbb, tbb_chunks});
#endif
#ifdef HAS_TASKFLOW
    contenders.push_back({"taskflow", tf::version(), taskflow_each});
    contenders.push_back({"taskflow-chunks", tf::version(), taskflow_chunks});
#if TF_VERSION < 400000
    contenders.push_back({"taskflow-deferred", tf::version(), taskflow_deferred});
#endif
#endif
    return answer(contenders);
}
