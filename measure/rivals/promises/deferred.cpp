// Items that need the results of their neighbours, with deferred tokens of Taskflow's Pipeline. Taskflow 4 has none. The words of
// a request are the name, the tokens under way, the rounds of work of an item, and the items.

#include "../../harness/rival.hpp"

#include <taskflow/taskflow.hpp>
#include <taskflow/algorithm/pipeline.hpp>

#include <thread>

// Every second item needs the results of both neighbours. A token that defers goes through the first pipe behind the tokens
// that it names, and through the third one too: then they have left the second pipe, and their results are there.
static std::uint64_t deferred(std::size_t tokens, Work work, std::uint64_t items) {
    std::vector<std::uint64_t> results(items);
    std::vector<std::size_t> lines(tokens);
    tf::Pipeline pipeline(tokens,
        tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow &flow) {
            auto token = flow.token();
            if (token == items) {
                flow.stop();
            } else if (token % 2 == 1 && flow.num_deferrals() == 0) {
                flow.defer(token - 1);
                flow.defer(token + 1);
            } else {
                lines[flow.line()] = token;
            }
        }},
        tf::Pipe{tf::PipeType::PARALLEL, [&, work](tf::Pipeflow &flow) {
            auto item = lines[flow.line()];
            if (item % 2 == 0) results[item] = work.run(item);
        }},
        tf::Pipe{tf::PipeType::SERIAL, [](tf::Pipeflow &) {}},
        tf::Pipe{tf::PipeType::PARALLEL, [&, work](tf::Pipeflow &flow) {
            auto item = lines[flow.line()];
            if (item % 2 == 0) return;
            auto behind = results[item + 1];
            results[item] = work.run(item ^ results[item - 1] ^ (behind << 1 | behind >> 63));
        }});
    tf::Taskflow taskflow;
    taskflow.composed_of(pipeline);
    static tf::Executor executor(std::thread::hardware_concurrency());
    executor.run(taskflow).wait();
    Digest digest;
    for (auto result : results) digest.add(result);
    return digest.value;
}

int main() {
    return serve({{"taskflow-deferred", tf::version(), [](std::istream &words) {
        auto tokens = word<std::size_t>(words);
        Work work{word<std::uint32_t>(words)};
        auto items = word<std::uint64_t>(words);
        return timed([&] { return deferred(tokens, work, items); });
    }}});
}
