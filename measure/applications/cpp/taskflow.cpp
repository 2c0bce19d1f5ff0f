// Taskflow: a pipeline with a serial pipe at each end. The items of a line lie in an array, as its documentation shows.
#include "suite.hpp"

#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/taskflow.hpp>

struct System {
    template <class Next, class Map, class Sink>
    static void run(Next next, unsigned workers, Map map, Sink sink) {
        using T = typename decltype(next())::value_type;
        using U = decltype(map(std::declval<T>()));
        static tf::Executor executor(workers);
        struct alignas(64) Line {
            T item;
            U result;
        };
        std::vector<Line> lines(8 * workers);
        tf::Pipeline pipeline(lines.size(),
            tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow &flow) {
                auto item = next();
                if (item) lines[flow.line()].item = *item;
                else flow.stop();
            }},
            tf::Pipe{tf::PipeType::PARALLEL, [&](tf::Pipeflow &flow) {
                Line &line = lines[flow.line()];
                line.result = map(line.item);
            }},
            tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow &flow) { sink(lines[flow.line()].result); }});
        tf::Taskflow taskflow;
        taskflow.composed_of(pipeline);
        executor.run(taskflow).get();
    }
};

int main(int argc, char **argv) { return suite<System>(tf::version(), argc, argv); }
