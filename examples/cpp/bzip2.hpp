// What the forms of `bzip2` have in common: blocks of a file, and a block compressed as a stream of its own, which every
// bzip2 reads one behind the other.
#pragma once

#include <bzlib.h>

#include <cstdio>
#include <stdexcept>
#include <string>

constexpr std::size_t BLOCK = 900000; // bytes: the largest block of bzip2

// The next block; empty at the end.
inline std::string read_block(std::FILE *input) {
    std::string block(BLOCK, '\0');
    block.resize(std::fread(&block[0], 1, BLOCK, input));
    if (std::ferror(input)) throw std::runtime_error("cannot read");
    return block;
}

inline std::string compress(const std::string &block) {
    unsigned length = static_cast<unsigned>(block.size() + block.size() / 100 + 600); // as bzlib's manual says
    std::string packed(length, '\0');
    int status = BZ2_bzBuffToBuffCompress(&packed[0], &length, const_cast<char *>(block.data()),
                                          static_cast<unsigned>(block.size()), 9, 0, 0);
    if (status != BZ_OK) throw std::runtime_error("cannot compress");
    packed.resize(length);
    return packed;
}

inline void write_block(std::FILE *output, const std::string &packed) {
    if (std::fwrite(packed.data(), 1, packed.size(), output) != packed.size()) throw std::runtime_error("cannot write");
}
