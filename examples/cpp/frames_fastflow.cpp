// Filters the frames of a video on all cores, with FastFlow.
#include "frames.hpp"

#include <ff/ff.hpp>

#include <memory>

struct Shoot : ff::ff_node_t<Frame> {
    int number = 0;
    Frame *svc(Frame *) override { return number < FRAMES ? new Frame(shoot(number++)) : EOS; }
};

template <Frame (*F)(const Frame &)>
struct Filter : ff::ff_node_t<Frame> {
    Frame *svc(Frame *frame) override {
        *frame = F(*frame);
        return frame;
    }
};

struct Add : ff::ff_node_t<Frame> {
    std::uint64_t sum = 0;
    Frame *svc(Frame *frame) override {
        sum = add(sum, *frame);
        delete frame;
        return GO_ON;
    }
};

template <class Worker>
std::vector<std::unique_ptr<ff::ff_node>> workers() {
    std::vector<std::unique_ptr<ff::ff_node>> all;
    for (int worker = 0; worker < ff_numCores(); worker++) all.push_back(std::make_unique<Worker>());
    return all;
}

int main() {
    Shoot source;
    Add end;
    ff::ff_OFarm<Frame> blur(workers<Filter<blurred>>()), find(workers<Filter<edges>>());
    ff::ff_Pipe<> pipe(source, blur, find, end);
    if (pipe.run_and_wait_end() < 0) return 1;
    std::printf("%016llx\n", static_cast<unsigned long long>(end.sum));
}
