// Compresses standard input to standard output, on all cores, with FastFlow.
#include "lzip.hpp"

#include <ff/ff.hpp>

#include <memory>
#include <vector>

struct Read : ff::ff_node_t<std::string> {
    std::string *svc(std::string *) override {
        std::string block = read_block(stdin);
        return block.empty() ? EOS : new std::string(std::move(block));
    }
};

struct Pack : ff::ff_node_t<std::string> {
    std::string *svc(std::string *block) override {
        *block = compress(*block);
        return block;
    }
};

struct Write : ff::ff_node_t<std::string> {
    std::string *svc(std::string *packed) override {
        write_block(stdout, *packed);
        delete packed;
        return GO_ON;
    }
};

int main() {
    std::vector<std::unique_ptr<ff::ff_node>> workers;
    for (int worker = 0; worker < ff_numCores(); worker++) workers.push_back(std::make_unique<Pack>());
    Read read;
    Write write;
    ff::ff_OFarm<std::string> farm(std::move(workers));
    ff::ff_Pipe<> pipe(read, farm, write);
    return pipe.run_and_wait_end() < 0;
}
