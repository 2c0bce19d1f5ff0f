// FastFlow: an ordered farm. Items are allocated by the emitter and freed by the collector, as in its tutorial. With
// BLOCKING its threads wait in the kernel, and else they spin, which is its default.
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
    template <class Next, class Map, class Sink>
    static void run(Next next, unsigned workers, Map map, Sink sink) {
        using T = typename decltype(next())::value_type;
        using C = Cell<T, decltype(map(std::declval<T>()))>;
        std::vector<std::unique_ptr<ff::ff_node>> nodes;
        for (unsigned worker = 0; worker < workers; worker++) nodes.push_back(std::make_unique<Worker<C, Map>>(map));
        Emitter<C, Next> emitter(next);
        Collector<C, Sink> collector(sink);
        ff::ff_OFarm<C> farm(std::move(nodes));
        farm.add_emitter(emitter);
        farm.add_collector(collector);
#ifdef BLOCKING
        farm.blocking_mode(true);
#endif
        if (farm.run_and_wait_end() < 0) std::abort();
    }
};

int main(int argc, char **argv) { return suite<System>("3", argc, argv); }
