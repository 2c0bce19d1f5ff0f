// The applications that compute and need no library, as in ../applications/src: micro, matmul, farm and sink. Each has data, a
// source, a parallel stage, and what the sink writes. `waits` says whether a source may wait for its next item.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "serve.hpp"

// As in ../applications/src/random.rs.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u | 1) {}
    std::uint64_t bits() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1Du;
    }
    std::uint64_t below(std::uint64_t end) { return (bits() >> 32) * end >> 32; }

  private:
    std::uint64_t state_;
};

// The value for one of the scales `tiny`, `quick` and `full`.
template <class T>
T choose(const std::string &scale, T tiny, T quick, T full) {
    return scale == "tiny" ? tiny : scale == "quick" ? quick : full;
}

namespace micro {

struct Line {
    std::size_t row = 0;
    std::vector<unsigned char> points;
};

struct Input {
    Input(const std::string &workload, const std::string &scale)
        : iterations(static_cast<std::uint32_t>(std::stoul(workload))), rows(choose<std::size_t>(scale, 64, 2048, 2048)),
          width(std::clamp<std::size_t>(choose<std::size_t>(scale, 50'000, 80'000, 500'000) / iterations, 2, 640)) {}
    double amount() const { return static_cast<double>(rows); }

    std::uint32_t escape(std::size_t row, std::size_t column, std::uint32_t limit) const {
        double re = -2.125 + 3.0 * (static_cast<double>(column) + 0.5) / static_cast<double>(width);
        double im = -1.5 + 3.0 * (static_cast<double>(row) + 0.5) / static_cast<double>(rows);
        double x = re, y = im;
        for (std::uint32_t iteration = 0; iteration < limit; iteration++) {
            double xx = x * x, yy = y * y;
            if (xx + yy > 4.0) return iteration;
            y = 2.0 * x * y + im;
            x = xx - yy + re;
        }
        return limit;
    }

    std::uint32_t iterations;
    std::size_t rows, width;
};

struct Source {
    static constexpr bool waits = true;
    std::size_t next, end;
    std::optional<std::size_t> operator()() { return next < end ? std::optional(next++) : std::nullopt; }
};

inline Source source(const Input &input) { return {0, input.rows}; }

// Both parallel stages, 60 % and 40 % of the work.
inline auto stage(const Input &input) {
    return [&input](std::size_t row) {
        Line line{row, std::vector<unsigned char>(input.width)};
        for (std::size_t column = 0; column < input.width; column++) {
            line.points[column] = static_cast<unsigned char>(input.escape(row, column, input.iterations / 5 * 3));
        }
        for (std::size_t column = 0; column < input.width; column++) {
            line.points[column] ^= static_cast<unsigned char>(input.escape(row, column, input.iterations / 5 * 2) >> 3);
        }
        return line;
    };
}

inline void write(Output &output, const Line &line) { output.write(line.points.data(), line.points.size()); }

} // namespace micro

namespace matmul {

struct Pair {
    const float *left, *right;
};

struct Input {
    Input(const std::string &workload, const std::string &scale)
        : rows(std::stoul(workload)),
          products(std::max<std::size_t>(choose<std::size_t>(scale, 1 << 20, 1 << 27, 1 << 30) / (rows * rows * rows), 2)) {
        Random random(13);
        matrices.resize(16);
        for (auto &matrix : matrices) {
            for (std::size_t at = 0; at < rows * rows; at++) {
                matrix.push_back(static_cast<float>(random.below(2001)) / 1000.0f - 1.0f);
            }
        }
    }
    double amount() const { return static_cast<double>(products); }

    std::size_t rows, products;
    std::vector<std::vector<float>> matrices;
};

struct Source {
    static constexpr bool waits = true;
    const Input *input;
    std::size_t next;
    std::optional<Pair> operator()() {
        if (next == input->products) return std::nullopt;
        std::size_t product = next++;
        return Pair{input->matrices[product % 16].data(), input->matrices[product / 16 % 16].data()};
    }
};

inline Source source(const Input &input) { return {&input, 0}; }

inline auto stage(const Input &input) {
    return [rows = input.rows](Pair pair) {
        std::vector<float> product(rows * rows);
        for (std::size_t row = 0; row < rows; row++) {
            float *sums = &product[row * rows];
            for (std::size_t at = 0; at < rows; at++) {
                float factor = pair.left[row * rows + at];
                const float *other = pair.right + at * rows;
                for (std::size_t column = 0; column < rows; column++) sums[column] += factor * other[column];
            }
        }
        return product;
    };
}

inline void write(Output &output, const std::vector<float> &product) {
    output.write(product.data(), product.size() * sizeof(float));
}

} // namespace matmul

namespace farm {

struct Task {
    std::uint64_t seed;
    std::uint32_t steps;
};

struct Input {
    Input(const std::string &workload, const std::string &scale) {
        std::string grain = workload.substr(0, workload.find("-uneven"));
        bool is_uneven = grain != workload, is_skewed = workload == "skewed";
        auto of = [&](auto none, auto ns, auto us, auto us10, auto us100) {
            return grain == "0ns" ? none : grain == "100ns" ? ns : grain == "10us" ? us10 : grain == "100us" ? us100 : us;
        };
        std::uint32_t mean = of(0u, 50u, 500u, 5'000u, 50'000u);
        std::size_t tenths = of(1'000, 1'000, 100, 10, 1);
        Random random(11);
        for (std::size_t task = 0; task < tenths * choose<std::size_t>(scale, 40, 5'000, 50'000) / 10; task++) {
            steps.push_back(is_skewed && task % 64 == 0 ? 32 * mean
                            : is_skewed                 ? mean * 32 / 63
                            : is_uneven                 ? (random.below(16) == 0 ? 8 * mean : mean / 2)
                                                        : mean - mean / 20 + static_cast<std::uint32_t>(random.below(mean / 10 + 1)));
        }
    }
    double amount() const { return static_cast<double>(steps.size()); }

    std::vector<std::uint32_t> steps;
};

struct Source {
    static constexpr bool waits = false;
    const Input *input;
    std::size_t next;
    std::optional<Task> operator()() {
        if (next == input->steps.size()) return std::nullopt;
        std::size_t task = next++;
        return Task{task + 1, input->steps[task]};
    }
};

inline Source source(const Input &input) { return {&input, 0}; }

inline auto stage(const Input &) {
    return [](Task task) {
        std::uint64_t state = task.seed;
        for (std::uint32_t step = 0; step < task.steps; step++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        return state;
    };
}

inline void write(Output &output, std::uint64_t result) { output.write(&result, sizeof result); }

} // namespace farm

namespace sink {

constexpr std::size_t WORDS = 8 << 10, READINGS = 4;

struct Input {
    Input(const std::string &, const std::string &scale) : buffers(choose<std::uint64_t>(scale, 8, 600, 6'000)) {}
    double amount() const { return static_cast<double>(buffers); }

    std::uint64_t buffers;
};

struct Source {
    static constexpr bool waits = true;
    // What comes of an item owns much memory.
    static constexpr bool owns_much = true;
    std::uint64_t next, end;
    std::optional<std::uint64_t> operator()() { return next < end ? std::optional(next++) : std::nullopt; }
};

inline Source source(const Input &input) { return {1, input.buffers + 1}; }

inline auto stage(const Input &) {
    return [](std::uint64_t number) {
        std::vector<std::uint64_t> buffer(WORDS);
        std::uint64_t state = number;
        for (auto &word : buffer) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word = state;
        }
        return buffer;
    };
}

inline void write(Output &output, const std::vector<std::uint64_t> &buffer) {
    for (std::size_t reading = 0; reading < READINGS; reading++) output.write(buffer.data(), 8 * buffer.size());
}

} // namespace sink

// The tasks of `farm`, whose results are added up, in their order or in any order.
namespace order {

struct Input {
    Input(const std::string &workload, const std::string &scale)
        : tasks(workload.substr(0, workload.find(':')), scale),
          is_ordered(workload.substr(workload.find(':') + 1) == "ordered") {}
    double amount() const { return tasks.amount(); }

    farm::Input tasks;
    bool is_ordered;
};

struct Sum {
    std::uint64_t sum = 0;
    void operator()(std::uint64_t result) { sum += (result * 0x9E3779B97F4A7C15u) ^ (result >> 31); }
};

} // namespace order
