// The common part of the forms of `bunzip2`. It cuts a bzip2 file into its streams, and decompresses each of them.
// `bzip2_*` and pbzip2 write files of many streams. A file of one stream is decompressed by one thread.
#pragma once

#include <bzlib.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

// The streams of a bzip2 file, one after another.
class Streams {
  public:
    explicit Streams(std::FILE *input) : input_(input) {}

    // Returns the next stream, which is empty at the end of the file.
    std::string next() {
        std::size_t seen = 1; // a stream begins at 0; the next one begins later
        while (true) {
            for (; seen + HEADER <= pending_.size(); seen++) {
                if (begins_stream(&pending_[seen])) return take(seen);
            }
            std::size_t before = pending_.size();
            pending_.resize(before + CHUNK);
            pending_.resize(before + std::fread(&pending_[before], 1, CHUNK, input_));
            if (std::ferror(input_)) throw std::runtime_error("cannot read");
            if (pending_.size() == before) return take(before);
        }
    }

  private:
    static constexpr std::size_t CHUNK = 1 << 20; // bytes that are read at a time
    static constexpr std::size_t HEADER = 10;     // bytes: `BZh`, a digit, and the six bytes that begin a block or the end

    static bool begins_stream(const char *bytes) {
        return bytes[0] == 'B' && bytes[1] == 'Z' && bytes[2] == 'h' && bytes[3] >= '1' && bytes[3] <= '9' &&
               (std::memcmp(bytes + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
                std::memcmp(bytes + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
    }

    std::string take(std::size_t length) {
        std::string stream = pending_.substr(0, length);
        pending_.erase(0, length);
        return stream;
    }

    std::FILE *input_;
    std::string pending_;
};

inline std::string decompress(const std::string &packed) {
    bz_stream stream{};
    if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) throw std::bad_alloc();
    stream.next_in = const_cast<char *>(packed.data());
    stream.avail_in = static_cast<unsigned>(packed.size());
    std::string block;
    int status = BZ_OK;
    while (status == BZ_OK) {
        std::size_t before = block.size();
        block.resize(before + 900000);
        stream.next_out = &block[before];
        stream.avail_out = 900000;
        status = BZ2_bzDecompress(&stream);
        block.resize(block.size() - stream.avail_out);
        if (status == BZ_OK && stream.avail_in == 0 && block.size() == before) status = BZ_UNEXPECTED_EOF;
    }
    BZ2_bzDecompressEnd(&stream);
    if (status != BZ_STREAM_END) throw std::runtime_error("the file is damaged, or is no bzip2 file");
    return block;
}

inline void write_block(std::FILE *output, const std::string &block) {
    if (std::fwrite(block.data(), 1, block.size(), output) != block.size()) throw std::runtime_error("cannot write");
}
