// The common part of the forms of `bzip2`. It reads blocks of a file, and compresses each block as a stream of its own.
// Every bzip2 reads such streams one after another.
#pragma once

#include <bzlib.h>

#include <cstdio>
#include <stdexcept>
#include <string>

constexpr std::size_t BLOCK = 900000; // bytes: the largest block of bzip2

// Returns the next block, which is empty at the end of the file.
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
