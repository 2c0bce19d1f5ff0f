// The common part of the forms of `lunzip`. It finds the members of an lzip file, and decompresses each of them. The end
// of a member says how long the member is, so the input has to be a file.
#pragma once

#include <cstdint>
#include <lzlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// The members of an lzip file, one after another.
class Members {
  public:
    explicit Members(std::FILE *input) : input_(input) {
        if (std::fseek(input, 0, SEEK_END) != 0) throw std::runtime_error("the input has to be a file");
        for (long end = std::ftell(input); end > 0; end -= lengths_.back()) {
            std::uint8_t bytes[8]; // the length of the member, the least significant byte first
            if (end < LEAST || std::fseek(input, end - 8, SEEK_SET) != 0 || std::fread(bytes, 1, 8, input) != 8) damaged();
            std::uint64_t length = 0;
            for (int at = 7; at >= 0; at--) length = length << 8 | bytes[at];
            if (length < LEAST || length > static_cast<std::uint64_t>(end)) damaged();
            lengths_.push_back(static_cast<long>(length));
        }
        std::rewind(input);
    }

    // Returns the next member, which is empty at the end of the file.
    std::string next() {
        if (lengths_.empty()) return {};
        std::string member(static_cast<std::size_t>(lengths_.back()), '\0');
        lengths_.pop_back();
        if (std::fread(&member[0], 1, member.size(), input_) != member.size()) throw std::runtime_error("cannot read");
        return member;
    }

  private:
    static constexpr long LEAST = 36; // bytes: no member is shorter
    [[noreturn]] static void damaged() { throw std::runtime_error("the file is damaged, or is no lzip file"); }

    std::FILE *input_;
    std::vector<long> lengths_; // of the members that were not read yet, the last one first
};

inline std::string decompress(const std::string &member) {
    std::unique_ptr<LZ_Decoder, int (*)(LZ_Decoder *)> decoder(LZ_decompress_open(), &LZ_decompress_close);
    if (!decoder || LZ_decompress_errno(decoder.get()) != LZ_ok) throw std::bad_alloc();
    std::string block;
    std::uint8_t buffer[65536];
    for (std::size_t written = 0; LZ_decompress_finished(decoder.get()) != 1;) {
        int left = static_cast<int>(std::min<std::size_t>(member.size() - written, sizeof buffer));
        int took = LZ_decompress_write(decoder.get(), reinterpret_cast<const std::uint8_t *>(&member[written]), left);
        written += static_cast<std::size_t>(std::max(took, 0));
        if (written == member.size()) LZ_decompress_finish(decoder.get());
        int gave = LZ_decompress_read(decoder.get(), buffer, sizeof buffer);
        if (took < 0 || gave < 0) throw std::runtime_error("the file is damaged, or is no lzip file");
        block.append(reinterpret_cast<const char *>(buffer), static_cast<std::size_t>(gave));
    }
    return block;
}

inline void write_block(std::FILE *output, const std::string &block) {
    if (std::fwrite(block.data(), 1, block.size(), output) != block.size()) throw std::runtime_error("cannot write");
}
