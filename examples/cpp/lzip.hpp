// The common part of the forms of `lzip`. It reads blocks of a file, and compresses each block as a member of its own.
// Every lzip reads such members one after another.
#pragma once

#include <cstdint>
#include <lzlib.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

constexpr int DICTIONARY = 8 << 20;            // bytes: that of `lzip -6`
constexpr int MATCH_LENGTH = 36;               // bytes: that of `lzip -6`
constexpr std::size_t BLOCK = 2 * DICTIONARY;  // bytes: that of `plzip -6`

// Returns the next block, which is empty at the end of the file.
inline std::string read_block(std::FILE *input) {
    std::string block(BLOCK, '\0');
    block.resize(std::fread(&block[0], 1, BLOCK, input));
    if (std::ferror(input)) throw std::runtime_error("cannot read");
    return block;
}

inline std::string compress(const std::string &block) {
    int dictionary = static_cast<int>(std::max<std::size_t>(LZ_min_dictionary_size(), std::min<std::size_t>(DICTIONARY, block.size())));
    std::unique_ptr<LZ_Encoder, int (*)(LZ_Encoder *)> encoder(LZ_compress_open(dictionary, MATCH_LENGTH, INT64_MAX),
                                                               &LZ_compress_close);
    if (!encoder || LZ_compress_errno(encoder.get()) != LZ_ok) throw std::bad_alloc();
    std::string packed;
    std::uint8_t buffer[65536];
    for (std::size_t written = 0; LZ_compress_finished(encoder.get()) != 1;) {
        int left = static_cast<int>(block.size() - written);
        int took = LZ_compress_write(encoder.get(), reinterpret_cast<const std::uint8_t *>(&block[written]), left);
        written += static_cast<std::size_t>(std::max(took, 0));
        if (written == block.size()) LZ_compress_finish(encoder.get());
        int gave = LZ_compress_read(encoder.get(), buffer, sizeof buffer);
        if (took < 0 || gave < 0) throw std::runtime_error("cannot compress");
        packed.append(reinterpret_cast<const char *>(buffer), static_cast<std::size_t>(gave));
    }
    return packed;
}

inline void write_block(std::FILE *output, const std::string &packed) {
    if (std::fwrite(packed.data(), 1, packed.size(), output) != packed.size()) throw std::runtime_error("cannot write");
}
