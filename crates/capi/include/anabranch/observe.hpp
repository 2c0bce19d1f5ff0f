// Reports of streams, and tokens that stop streams from outside.
#ifndef ANABRANCH_OBSERVE_HPP
#define ANABRANCH_OBSERVE_HPP

#include "detail.hpp"

#include <chrono>
#include <cstdint>

namespace anabranch {

// The default number of workers: the environment variable ANABRANCH_WORKERS, or the number of processors.
inline std::size_t default_workers() { return anabranch_default_workers(); }

// Stops streams from outside, from any thread. Copies stop the same streams.
class cancel_token {
  public:
    cancel_token() : token_(anabranch_token_new(), anabranch_token_free) {
        if (!token_) throw std::runtime_error(anabranch_last_error());
    }
    // Ends the streams of this token now. The items in flight are dropped.
    void cancel() const { anabranch_token_cancel(token_.get()); }
    // Stops the sources of the streams of this token. The items in flight are finished.
    void drain() const { anabranch_token_drain(token_.get()); }

    struct counts {
        std::uint64_t delivered; // items that have reached the end
        std::uint64_t dropped;   // items in flight that were dropped
    };
    // The counts of the last stream that was stopped. Empty if no stream was stopped.
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

// The report of a stream. The end of a stream with the setting `report` fills it.
class report {
  public:
    const std::string &text() const { return text_; }
    const std::string &json() const { return json_; }
    const std::string &svg() const { return svg_; }
    // The work of each thread over time, for Perfetto and chrome://tracing.
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

// The progress of a stream.
struct progress {
    std::uint64_t items;              // items that have passed the end
    std::chrono::nanoseconds elapsed; // time since the stream began
};

enum class format { text = ANABRANCH_TEXT, json = ANABRANCH_JSON, dot = ANABRANCH_DOT, svg = ANABRANCH_SVG };

} // namespace anabranch

#endif
