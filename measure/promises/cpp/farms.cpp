// Ordered farms in C++: with SPar's annotations, with Anabranch's builder, and with FastFlow where it is found. spar++
// compiles this file. It talks as the rivals in ../rivals/cpp do.

#include "../../rivals/promises/cpp/contender.hpp"

#include <anabranch.hpp>

#include <memory>
#include <thread>

#if __has_include(<ff/ff.hpp>)
#define HAS_FASTFLOW
#include <ff/ff.hpp>
#endif

static std::uint64_t annotated(const Job &job) {
    Digest digest;
    const Work work = job.work;
    [[spar::ToStream]]
    for (std::uint64_t item = 0; item < job.items; ++item) {
        std::uint64_t result;
        [[spar::Stage, spar::Input(item, work), spar::Output(result), spar::Replicate()]]
        result = work.run(item);
        [[spar::Stage, spar::Input(result), spar::Output(digest)]]
        digest.add(result);
    }
    return digest.value;
}

static std::uint64_t builder(const Job &job) {
    Digest digest;
    anabranch::iota(std::uint64_t(0), job.items)
        .map([work = job.work](std::uint64_t item) { return work.run(item); })
        .for_each([&](std::uint64_t result) { digest.add(result); });
    return digest.value;
}

#ifdef HAS_FASTFLOW
// FastFlow passes pointers. These point into memory that is kept from run to run, so nothing is allocated for an item.
struct Source : ff::ff_node_t<std::uint64_t> {
    explicit Source(std::uint64_t items) : items(items) {}
    std::uint64_t *svc(std::uint64_t *) override {
        static std::vector<std::uint64_t> memory;
        if (memory.size() < items) memory.resize(items);
        for (std::uint64_t item = 0; item < items; ++item) {
            memory[item] = item;
            ff_send_out(&memory[item]);
        }
        return EOS;
    }
    std::uint64_t items;
};

struct Map : ff::ff_node_t<std::uint64_t> {
    explicit Map(Work work) : work(work) {}
    std::uint64_t *svc(std::uint64_t *item) override {
        *item = work.run(*item);
        return item;
    }
    Work work;
};

struct Sink : ff::ff_node_t<std::uint64_t> {
    std::uint64_t *svc(std::uint64_t *result) override {
        digest.add(*result);
        return GO_ON;
    }
    Digest digest;
};

// The setting is 0 for workers that spin, FastFlow's default, and 1 for workers that block.
static std::uint64_t fastflow(const Job &job) {
    std::vector<std::unique_ptr<ff::ff_node>> workers;
    for (unsigned worker = 0; worker < std::thread::hardware_concurrency(); worker++) {
        workers.push_back(std::make_unique<Map>(job.work));
    }
    Source source(job.items);
    Sink sink;
    ff::ff_OFarm<std::uint64_t> farm(std::move(workers));
    farm.add_emitter(source);
    farm.add_collector(sink);
    if (job.setting == 1) farm.blocking_mode(true);
    if (farm.run_and_wait_end() < 0) std::abort();
    return sink.digest.value;
}
#endif

int main() {
    const std::string version = anabranch_version();
    std::vector<Contender> contenders{{"annotated", version, annotated}, {"builder", version, builder}};
#ifdef HAS_FASTFLOW
    contenders.push_back({"fastflow", "3", fastflow});
#endif
    return answer(contenders);
}
