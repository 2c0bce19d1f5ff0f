// Filters a log from standard input to standard output, on all cores, with FastFlow.
#include "log.hpp"

#include <ff/ff.hpp>

#include <memory>
#include <vector>

struct Read : ff::ff_node_t<Entry> {
    Entry *svc(Entry *) override {
        auto entry = std::make_unique<Entry>();
        return std::getline(std::cin, entry->line) ? entry.release() : EOS;
    }
};

struct Examine : ff::ff_node_t<Entry> {
    Entry *svc(Entry *entry) override {
        examine(*entry);
        return entry;
    }
};

struct Write : ff::ff_node_t<Entry> {
    std::uint64_t failures = 0, sum = 0;
    Entry *svc(Entry *current) override {
        sum += current->checksum;
        if (current->is_failure) std::cout << ++failures << " " << current->line << "\n";
        delete current;
        return GO_ON;
    }
};

int main() {
    std::vector<std::unique_ptr<ff::ff_node>> workers;
    for (int worker = 0; worker < ff_numCores(); worker++) workers.push_back(std::make_unique<Examine>());
    Read read;
    Write write;
    ff::ff_OFarm<Entry> farm(std::move(workers));
    ff::ff_Pipe<> pipe(read, farm, write);
    if (pipe.run_and_wait_end() < 0) return 1;
    std::cout << write.failures << " failures, checksum " << write.sum << "\n";
}
