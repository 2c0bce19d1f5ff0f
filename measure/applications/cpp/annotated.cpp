// The plain loop with SPar's annotations: spar++ compiles this file.
#include "suite.hpp"

#include <anabranch.h>

struct System {
    template <class Next, class Map, class Sink>
    static void run(Next next, unsigned workers, Map map, Sink sink) {
        [[spar::ToStream]]
        while (auto item = next()) {
            auto task = *item;
            decltype(map(task)) result;
            [[spar::Stage, spar::Input(task, map), spar::Output(result), spar::Replicate(workers)]]
            result = map(task);
            [[spar::Stage, spar::Input(result), spar::Output(sink)]]
            sink(result);
        }
    }
};

int main(int argc, char **argv) { return suite<System>(anabranch_version(), argc, argv); }
