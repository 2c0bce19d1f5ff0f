// The common part of the forms of `frames`. The frames of a computed video are blurred, their edges are found, and they
// are added up in order.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int WIDTH = 160, HEIGHT = 90, FRAMES = 200;
using Frame = std::vector<std::uint8_t>; // WIDTH * HEIGHT pixels, row by row

// Computes a frame of a moving pattern.
inline Frame shoot(int number) {
    Frame frame(WIDTH * HEIGHT);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) frame[y * WIDTH + x] = static_cast<std::uint8_t>((x + number) * (y - number) / 7);
    }
    return frame;
}

// Replaces each pixel by `f` of the nine pixels around it. The pixels of the border stay.
template <class F>
Frame filtered(const Frame &from, F f) {
    Frame to = from;
    for (int y = 1; y < HEIGHT - 1; y++) {
        for (int x = 1; x < WIDTH - 1; x++) {
            const std::uint8_t *at = &from[(y - 1) * WIDTH + x - 1];
            to[y * WIDTH + x] = static_cast<std::uint8_t>(f(at, at + WIDTH, at + 2 * WIDTH));
        }
    }
    return to;
}

using Row = const std::uint8_t *;

inline Frame blurred(const Frame &frame) {
    return filtered(frame, [](Row a, Row b, Row c) {
        return (a[0] + a[1] + a[2] + b[0] + b[1] + b[2] + c[0] + c[1] + c[2]) / 9;
    });
}

// Sobel's operator.
inline Frame edges(const Frame &frame) {
    return filtered(frame, [](Row a, Row b, Row c) {
        int across = a[2] + 2 * b[2] + c[2] - a[0] - 2 * b[0] - c[0];
        int down = c[0] + 2 * c[1] + c[2] - a[0] - 2 * a[1] - a[2];
        int strength = (across < 0 ? -across : across) + (down < 0 ? -down : down);
        return strength > 255 ? 255 : strength;
    });
}

// Adds a frame to a sum that depends on the order of the frames.
inline std::uint64_t add(std::uint64_t sum, const Frame &frame) {
    for (std::uint8_t pixel : frame) sum = (sum ^ pixel) * 1099511628211u;
    return sum;
}
