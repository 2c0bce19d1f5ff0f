// The plain loop.
#include "suite.hpp"

struct System {
    template <class Next, class Map, class Sink>
    static void run(Next next, unsigned, Map map, Sink sink) {
        while (auto item = next()) sink(map(*item));
    }
};

int main(int argc, char **argv) { return suite<System>(__VERSION__, argc, argv); }
