// Filters the frames of a video.
#include "frames.hpp"

int main() {
    std::uint64_t sum = 0;
    for (int number = 0; number < FRAMES; number++) {
        Frame frame = shoot(number);
        frame = blurred(frame);
        frame = edges(frame);
        sum = add(sum, frame);
    }
    std::printf("%016llx\n", static_cast<unsigned long long>(sum));
}
