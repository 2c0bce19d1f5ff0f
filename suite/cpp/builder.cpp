// Anabranch's builder.
#include "suite.hpp"

#include <anabranch.hpp>

struct System {
    template <class Next, class Map, class Sink>
    static void run(Next next, unsigned workers, Map map, Sink sink) {
        auto items = anabranch::from_fn(next).workers(workers);
        if constexpr (!Next::waits) {
            std::move(items).never_waits().map(map).for_each(sink);
        } else {
            std::move(items).map(map).for_each(sink);
        }
    }
};

int main(int argc, char **argv) { return suite<System>(anabranch_version(), argc, argv); }
