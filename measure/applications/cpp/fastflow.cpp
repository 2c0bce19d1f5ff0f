// FastFlow: an ordered farm, or one that gives up the order. Items are allocated by the emitter and freed by the collector, as in
// its tutorial. With BLOCKING its threads wait in the kernel, and else they spin, which is its default.
#include "suite.hpp"

#include <ff/ff.hpp>

#include <memory>

template <class T, class U>
struct Cell {
    T item;
    U result;
};

template <class Cell, class Next>
struct Emitter : ff::ff_node_t<Cell> {
    explicit Emitter(Next next) : next(next) {}
    Cell *svc(Cell *) override {
        auto item = next();
        return item ? new Cell{*item, {}} : this->EOS;
    }
    Next next;
};

template <class Cell, class Map>
struct Worker : ff::ff_node_t<Cell> {
    explicit Worker(Map map) : map(map) {}
    Cell *svc(Cell *cell) override {
        cell->result = map(cell->item);
        return cell;
    }
    Map map;
};

template <class Cell, class Sink>
struct Collector : ff::ff_node_t<Cell> {
    explicit Collector(Sink sink) : sink(sink) {}
    Cell *svc(Cell *cell) override {
        std::unique_ptr<Cell> owned(cell);
        sink(cell->result);
        return this->GO_ON;
    }
    Sink sink;
};

struct System {
    static inline bool is_unordered = false;

    template <class Next, class Map, class Sink>
    static void run(Next next, unsigned workers, Map map, Sink sink) {
        if (is_unordered) farm<false>(next, workers, map, sink);
        else farm<true>(next, workers, map, sink);
    }

    template <bool is_ordered, class Next, class Map, class Sink>
    static void farm(Next next, unsigned workers, Map map, Sink sink) {
        using T = typename decltype(next())::value_type;
        using C = Cell<T, decltype(map(std::declval<T>()))>;
        std::vector<std::unique_ptr<ff::ff_node>> nodes;
        for (unsigned worker = 0; worker < workers; worker++) nodes.push_back(std::make_unique<Worker<C, Map>>(map));
        Emitter<C, Next> emitter(next);
        Collector<C, Sink> collector(sink);
        std::conditional_t<is_ordered, ff::ff_OFarm<C>, ff::ff_Farm<C>> farm(std::move(nodes));
        farm.add_emitter(emitter);
        farm.add_collector(collector);
#ifdef BLOCKING
        farm.blocking_mode(true);
#endif
        if (farm.run_and_wait_end() < 0) std::abort();
    }
};

// The queue of FastFlow, for the experiment about its capacity: one thread pushes and one pops, and each yields when it cannot.
int queue(const std::string &variant, const std::string &version, std::size_t capacity, const std::string &scale) {
    const std::uint64_t items = (capacity < 16 ? 1 : 10) * choose<std::uint64_t>(scale, 100, 10'000, 50'000);
    answer(variant, version, static_cast<double>(items), [&](Output &output) {
        ff::SWSR_Ptr_Buffer buffer(capacity);
        if (!buffer.init()) std::abort();
        std::thread writer([&] {
            // A null pointer means that a place is empty, so the number 0 is passed as 1.
            for (std::uint64_t item = 1; item <= items; item++) {
                while (!buffer.push(reinterpret_cast<void *>(item))) std::this_thread::yield();
            }
        });
        std::uint64_t folded = 0;
        for (std::uint64_t left = items; left > 0; left--) {
            void *item = nullptr;
            while (!buffer.pop(&item)) std::this_thread::yield();
            folded = folded * 0xD1342543DE82EF95u + (reinterpret_cast<std::uint64_t>(item) - 1);
        }
        writer.join();
        output.write(&folded, sizeof folded);
    });
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 6 && std::string(argv[1]) == "queue") return queue(argv[4], "3", std::stoul(argv[2]), argv[3]);
    return suite<System>("3", argc, argv);
}
