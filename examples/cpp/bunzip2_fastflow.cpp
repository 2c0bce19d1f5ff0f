// Decompresses standard input to standard output, on all cores, with FastFlow.
#include "bunzip2.hpp"

#include <ff/ff.hpp>

#include <memory>
#include <vector>

struct Read : ff::ff_node_t<std::string> {
    Streams streams{stdin};
    std::string *svc(std::string *) override {
        std::string packed = streams.next();
        return packed.empty() ? EOS : new std::string(std::move(packed));
    }
};

struct Unpack : ff::ff_node_t<std::string> {
    std::string *svc(std::string *packed) override {
        *packed = decompress(*packed);
        return packed;
    }
};

struct Write : ff::ff_node_t<std::string> {
    std::string *svc(std::string *block) override {
        write_block(stdout, *block);
        delete block;
        return GO_ON;
    }
};

int main() {
    std::vector<std::unique_ptr<ff::ff_node>> workers;
    for (int worker = 0; worker < ff_numCores(); worker++) workers.push_back(std::make_unique<Unpack>());
    Read read;
    Write write;
    ff::ff_OFarm<std::string> farm(std::move(workers));
    ff::ff_Pipe<> pipe(read, farm, write);
    return pipe.run_and_wait_end() < 0;
}
