// OpenMP: two tasks for each item, and dependences that keep the order of the sink.
#include "suite.hpp"

#include <omp.h>

struct System {
    template <class Next, class Map, class Sink>
    static void run(Next next, unsigned workers, Map map, Sink sink) {
        using T = typename decltype(next())::value_type;
        using U = decltype(map(std::declval<T>()));
        // An item waits until the result before it in its slot is out.
        struct Slot {
            T item;
            U result;
        };
        std::vector<Slot> slots(64 * workers);
        char turn = 0;
#pragma omp parallel num_threads(workers)
#pragma omp single
        for (std::size_t index = 0; auto item = next(); index++) {
            Slot *slot = &slots[index % slots.size()];
            T task = *item;
#pragma omp task depend(out : slot[0]) firstprivate(slot, task) shared(map)
            slot->result = map(task);
#pragma omp task depend(in : slot[0]) depend(inout : turn) firstprivate(slot) shared(sink)
            sink(slot->result);
        }
    }
};

int main(int argc, char **argv) { return suite<System>(std::to_string(_OPENMP), argc, argv); }
