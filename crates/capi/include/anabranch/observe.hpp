// Looking at streams, and stopping them from outside.
#ifndef ANABRANCH_OBSERVE_HPP
#define ANABRANCH_OBSERVE_HPP

#include "detail.hpp"

#include <chrono>
#include <cstdint>

namespace anabranch {

// How many workers a stream has by default: ANABRANCH_WORKERS of the environment, else the processors.
inline std::size_t default_workers() { return anabranch_default_workers(); }

// Stops streams from outside, from any thread. Copies stop the same streams.
class cancel_token {
  public:
    cancel_token() : token_(anabranch_token_new(), anabranch_token_free) {
        if (!token_) throw std::runtime_error(anabranch_last_error());
    }
    // Ends the streams of this token now: what is in flight is dropped.
    void cancel() const { anabranch_token_cancel(token_.get()); }
    // Stops the sources of the streams of this token: what is in flight is finished.
    void drain() const { anabranch_token_drain(token_.get()); }

    struct counts {
        std::uint64_t delivered; // items that came as far as the end
        std::uint64_t dropped;   // so many more were on their way
    };
    // What became of the items of the stream that was stopped last; nothing before one was.
    std::optional<counts> stopped() const {
        counts found{};
        if (!anabranch_token_stopped(token_.get(), &found.delivered, &found.dropped)) return std::nullopt;
        return found;
    }

  private:
    template <class T, class Sent>
    friend class stream;
    std::shared_ptr<anabranch_token> token_;
};

// What a stream has done: filled by the end of a stream that was told of it.
class report {
  public:
    const std::string &text() const { return text_; }
    const std::string &json() const { return json_; }
    const std::string &svg() const { return svg_; }
    // What the threads did and when, for Perfetto and chrome://tracing.
    const std::string &trace() const { return trace_; }

  private:
    template <class T, class Sent>
    friend class stream;
    template <class T>
    friend class started;
    void read(anabranch_stream *stream) {
        text_ = detail::take_text(anabranch_report(stream, ANABRANCH_TEXT));
        json_ = detail::take_text(anabranch_report(stream, ANABRANCH_JSON));
        svg_ = detail::take_text(anabranch_report(stream, ANABRANCH_SVG));
        trace_ = detail::take_text(anabranch_report(stream, ANABRANCH_CHROME));
    }
    std::string text_, json_, svg_, trace_;
};

// How far a stream has come.
struct progress {
    std::uint64_t items;              // have passed the end
    std::chrono::nanoseconds elapsed; // since it began
};

enum class format { text = ANABRANCH_TEXT, json = ANABRANCH_JSON, dot = ANABRANCH_DOT, svg = ANABRANCH_SVG };

} // namespace anabranch

#endif
