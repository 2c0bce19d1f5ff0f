// Signal programs whose stages are OpenMP tasks with `depend`. The stages are those of the networks, from the Rust
// library in `stages/`. So both sides do the same arithmetic, and only the scheduling differs.
//
// The words of a request are the name of a program, its size (samples of a block, or samples of audio in a burst), the
// microseconds which the loop takes for the input, and the slots through which blocks pass from stage to stage. The digest is a
// check sum of the output.

#include "../../../measure/harness/rival.hpp"

extern "C" {
uint64_t dsp_begin(uint64_t program, uint64_t size, uint64_t microseconds, uint64_t slots, bool is_checked);
void dsp_fire(uint64_t stage, uint64_t block);
uint64_t dsp_finish();
}

namespace {

constexpr uint64_t FAILED = UINT64_MAX;

// The dependences refer to these bytes: one for each slot of each edge between two stages.
struct Edges {
    explicit Edges(uint64_t edges, uint64_t slots) : slots(slots), marks(edges * slots) {}

    char *of(uint64_t edge, uint64_t block) { return &marks[edge * slots + block % slots]; }

    uint64_t slots;
    std::vector<char> marks;
};

// Blocks are read and written in order. Blocks may be transformed at the same time.
void transforms(uint64_t blocks, uint64_t slots) {
    Edges edges(2, slots);
    char reader, writer;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (uint64_t block = 0; block < blocks; block++) {
        char *samples = edges.of(0, block), *spectrum = edges.of(1, block);
#pragma omp task depend(inout : reader) depend(out : samples[0]) firstprivate(block)
        dsp_fire(0, block);
#pragma omp task depend(in : samples[0]) depend(out : spectrum[0]) firstprivate(block)
        dsp_fire(1, block);
#pragma omp task depend(inout : writer) depend(in : spectrum[0]) firstprivate(block)
        dsp_fire(2, block);
    }
    (void)reader, (void)writer;
}

// Each stage takes the blocks in order, because a filter keeps samples that it needs again.
void radio(uint64_t blocks, uint64_t slots) {
    constexpr uint64_t STAGES = 12, FIRST_BAND = 5, BANDS = 6;
    // The edges: two parts of the signal before and behind the channel filters, the angles, the sound, and the bands.
    Edges edges(6 + BANDS, slots);
    char states[STAGES];
#pragma omp parallel num_threads(2)
#pragma omp single
    for (uint64_t block = 0; block < blocks; block++) {
        char *part_i = edges.of(0, block), *part_q = edges.of(1, block);
        char *station_i = edges.of(2, block), *station_q = edges.of(3, block);
        char *angles = edges.of(4, block), *sound = edges.of(5, block);
#pragma omp task depend(inout : states[0]) depend(out : part_i[0], part_q[0]) firstprivate(block)
        dsp_fire(0, block);
#pragma omp task depend(inout : states[1]) depend(in : part_i[0]) depend(out : station_i[0]) firstprivate(block)
        dsp_fire(1, block);
#pragma omp task depend(inout : states[2]) depend(in : part_q[0]) depend(out : station_q[0]) firstprivate(block)
        dsp_fire(2, block);
#pragma omp task depend(inout : states[3]) depend(in : station_i[0], station_q[0]) depend(out : angles[0]) \
    firstprivate(block)
        dsp_fire(3, block);
#pragma omp task depend(inout : states[4]) depend(in : angles[0]) depend(out : sound[0]) firstprivate(block)
        dsp_fire(4, block);
        for (uint64_t band = 0; band < BANDS; band++) {
            char *equalised = edges.of(6 + band, block);
#pragma omp task depend(inout : states[FIRST_BAND + band]) depend(in : sound[0]) depend(out : equalised[0]) \
    firstprivate(block, band)
            dsp_fire(FIRST_BAND + band, block);
        }
        char *bands[BANDS];
        for (uint64_t band = 0; band < BANDS; band++) {
            bands[band] = edges.of(6 + band, block);
        }
#pragma omp task depend(inout : states[11]) \
    depend(in : bands[0][0], bands[1][0], bands[2][0], bands[3][0], bands[4][0], bands[5][0]) firstprivate(block)
        dsp_fire(11, block);
    }
    (void)states;
}

Form form(const std::string &name, uint64_t number, void (*run)(uint64_t blocks, uint64_t slots)) {
    return {name, std::to_string(_OPENMP), [number, run](std::istream &words) {
        auto size = word<uint64_t>(words), microseconds = word<uint64_t>(words), slots = word<uint64_t>(words);
        if (slots == 0) throw std::runtime_error("0 slots hold no block");
        auto begun = [&](bool is_checked) {
            uint64_t blocks = dsp_begin(number, size, microseconds, slots, is_checked);
            if (blocks == FAILED) throw std::runtime_error("the program could not begin");
            return blocks;
        };
        auto finished = [] {
            uint64_t check = dsp_finish();
            if (check == FAILED) throw std::runtime_error("a stage has failed");
            return check;
        };
        // The first run is not timed: it makes the check sum.
        run(begun(true), slots);
        uint64_t check = finished(), blocks = begun(false);
        Answer answer = timed([&] {
            run(blocks, slots);
            return check;
        });
        finished();
        return answer;
    }};
}

} // namespace

int main() { return serve({form("fft", 0, transforms), form("fmradio", 1, radio)}); }
