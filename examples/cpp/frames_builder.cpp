// Filters the frames of a video on all cores, with Anabranch's builder.
#include "frames.hpp"

#include <anabranch.hpp>

int main() {
    auto sum = anabranch::iota(0, FRAMES).map(shoot).map(blurred).map(edges).fold(std::uint64_t(0), add);
    std::printf("%016llx\n", static_cast<unsigned long long>(sum));
}
