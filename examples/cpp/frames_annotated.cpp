// Filters the frames of a video on all cores: spar++ -spar_file frames_annotated.cpp
#include "frames.hpp"

int main() {
    std::uint64_t sum = 0;
    [[spar::ToStream]]
    for (int number = 0; number < FRAMES; number++) {
        Frame frame = shoot(number);
        [[spar::Stage, spar::Input(frame), spar::Output(frame), spar::Replicate()]]
        frame = blurred(frame);
        [[spar::Stage, spar::Input(frame), spar::Output(frame), spar::Replicate()]]
        frame = edges(frame);
        [[spar::Stage, spar::Input(frame), spar::Output(sum)]]
        sum = add(sum, frame);
    }
    std::printf("%016llx\n", static_cast<unsigned long long>(sum));
}
