// Anabranch's builder.
#include "suite.hpp"

#include <anabranch.hpp>

struct System {
    template <class Next, class Map, class Sink>
    static void run(Next next, unsigned workers, Map map, Sink sink) {
        auto items = anabranch::from_fn(next).workers(workers);
        if constexpr (!Next::waits) {
            std::move(items).in_blocks().map(map).for_each(sink);
        } else if constexpr (requires { Next::owns_much; }) {
            std::move(items).window(16 * workers).map(map).for_each(sink);
        } else {
            std::move(items).map(map).for_each(sink);
        }
    }

    // The thread that waits for items sends them, so that no worker waits.
    template <class Next, class Map, class Sink>
    static void live(Next next, unsigned workers, Map map, Sink &sink) {
        using T = typename decltype(next())::value_type;
        auto running = anabranch::sent<T>().workers(workers).map(map).start([&sink](auto result) { sink(result); });
        while (auto item = next()) running.send(*item);
        running.finish();
    }
};

int main(int argc, char **argv) { return suite<System>(anabranch_version(), argc, argv); }
