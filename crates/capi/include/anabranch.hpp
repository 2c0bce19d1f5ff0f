// Anabranch for C++17: runs a streaming loop on all cores and gives exactly what the loop would have given: the same
// output, in the same order, with the same first exception, in bounded memory.
//
//     anabranch::from(blocks)
//         .map([](Block block) { return compress(block); })       // for several blocks at once
//         .for_each([&](const Block &block) { write(out, block); }); // for one block at a time, in order
//
// A stream is a source, stages and settings. Its end runs it. Stages whose names have `serial` in them run for one item
// at a time, in order, and may change the variables that they capture. The other stages run for several items at once.
// Functions may capture by reference, because no thread of the stream outlives its end.
//
// Items are moved from stage to stage, so types that cannot be copied are allowed. A function that takes its item by
// value or by rvalue reference gets the item. A function that takes it by const reference may read it. An item has at most
// 128 KiB, because functions that take it by value have it on their stack. Put larger ones into a std::vector or a
// std::unique_ptr.
//
// The first exception in the order of the items ends the stream. The end has seen exactly the items before it, and the
// exception is thrown to the caller with its own type. A setting out of range throws std::invalid_argument.
//
// The library is linked with -lanabranch (pkg-config anabranch; CMake: find_package(anabranch), anabranch::anabranch).
#ifndef ANABRANCH_HPP
#define ANABRANCH_HPP

#include "anabranch/observe.hpp"

#include <iterator>
#include <vector>

namespace anabranch {

// A stream that was started, to which items are sent. Its destructor ends it as `finish` does, and drops an exception.
template <class T>
class started {
  public:
    // Sends an item, and waits while there is no room. Returns false if the stream has ended early; `finish` throws the
    // reason.
    bool send(T item) {
        int status = anabranch_send(stream_.get(), detail::cell<T>::put(std::move(item)));
        if (status == ANABRANCH_STOPPED) return false;
        detail::check(status);
        return true;
    }
    // Ends the items, waits until all of them are finished, and throws the stream's exception, if there is one.
    void finish() {
        detail::handle stream = std::move(stream_);
        void *error = nullptr;
        int status = anabranch_finish(stream.get(), &error);
        if (report_ != nullptr && status != ANABRANCH_INVALID) report_->read(stream.get());
        detail::rethrow(status, error);
    }

  private:
    template <class U, class Sent>
    friend class stream;
    started(detail::handle stream, report *report) : stream_(std::move(stream)), report_(report) {
        detail::release_to(&detail::begins);
        detail::check(anabranch_start(stream_.get(), detail::cell<T>::destroyer));
    }
    detail::handle stream_;
    report *report_;
};

// A stream of items T that is being built. `Sent` is the type of the items that are sent to it. It is void for a stream
// with a source.
template <class T, class Sent = void>
class [[nodiscard]] stream {
    using cell = detail::cell<T>;

  public:
    stream(stream &&) noexcept = default;
    stream &operator=(stream &&) noexcept = default;

    // ---- Parallel stages: they run for several items at once ----

    // Turns each item into another.
    template <class F>
    auto map(F f) && {
        detail::check_parallel<F, T &&>();
        using U = detail::result_t<const F &, T &&>;
        static_assert(!std::is_void_v<U>, "map needs a function that gives the next item: inspect looks at items");
        return std::move(*this).template parallel<U, detail::map_step>(std::move(f));
    }

    // Keeps the items for which `f` returns true.
    template <class F>
    auto filter(F f) && {
        detail::check_parallel<F, const T &>();
        return std::move(*this).template parallel<T, detail::pass_step<ANABRANCH_DROP>>(std::move(f));
    }

    // Turns each item into another, or drops it if `f` returns an empty std::optional.
    template <class F>
    auto filter_map(F f) && {
        detail::check_parallel<F, T &&>();
        using O = detail::result_t<const F &, T &&>;
        static_assert(detail::is_optional<O>::value, "filter_map needs a function that gives a std::optional");
        return std::move(*this).template parallel<typename O::value_type, detail::filter_map_step>(std::move(f));
    }

    // Calls `f` with each item, and passes the item on.
    template <class F>
    auto inspect(F f) && {
        detail::check_parallel<F, const T &>();
        return std::move(*this).template parallel<T, detail::inspect_step>(std::move(f));
    }

    // Like map, with a state for each worker: f(state, item). `make` creates the state on the worker's thread.
    template <class Make, class F>
    auto map_init(Make make, F f) && {
        using L = detail::result_t<const Make &>;
        detail::check_parallel<F, T &&, L &>();
        using U = detail::result_t<const F &, L &, T &&>;
        struct both {
            Make make;
            F f;
        };
        struct local { // created at the first item, so that an exception of `make` belongs to that item
            std::optional<L> state;
        };
        anabranch_stage_fn call = [](void *context, void *state, void **item) {
            return detail::guarded(nullptr, item, [&] {
                const both &b = *static_cast<const both *>(context);
                auto &held = static_cast<local *>(state)->state;
                return cell::take(*item, [&](T &value) {
                    if (!held) held.emplace(b.make());
                    detail::put<U>(item, b.f(*held, std::move(value)));
                    return static_cast<int>(ANABRANCH_NEXT);
                });
            });
        };
        auto next = std::move(*this).template add<U>(anabranch_map, call,
                                                           std::unique_ptr<both>(new both{std::move(make), std::move(f)}));
        anabranch_state_fn create = [](void *) { return static_cast<void *>(new local()); };
        detail::check(anabranch_state(next.stream_.get(), create, &detail::release<local>));
        return next;
    }

    // ---- Serial stages: they run for one item at a time, in order ----

    // Turns each item into another. `f` may change the variables that it captures.
    template <class F>
    auto serial_map(F f) && {
        detail::check_serial<F, T &&>();
        using U = detail::result_t<F &, T &&>;
        static_assert(!std::is_void_v<U>, "serial_map needs a function that gives the next item: for_each ends a stream");
        return std::move(*this).template one_by_one<U, detail::map_step>(std::move(f));
    }

    // Like serial, but drops an item if `f` returns an empty std::optional.
    template <class F>
    auto serial_filter_map(F f) && {
        detail::check_serial<F, T &&>();
        using O = detail::result_t<F &, T &&>;
        static_assert(detail::is_optional<O>::value, "serial_filter_map needs a function that gives a std::optional");
        return std::move(*this).template one_by_one<typename O::value_type, detail::filter_map_step>(std::move(f));
    }

    // Passes on items while `f` returns true. The first item for which it returns false is dropped and ends the stream.
    template <class F>
    auto take_while(F f) && {
        detail::check_serial<F, const T &>();
        return std::move(*this).template one_by_one<T, detail::pass_step<ANABRANCH_END>>(std::move(f));
    }

    // Gives up the order of the items from here on: stages take items in the order in which they finish.
    stream unordered() && {
        detail::check(anabranch_unordered(stream_.get()));
        return std::move(*this);
    }

    // ---- Settings: no setting changes the results of a stream ----

    // The number of threads that work, including the calling thread: 1 to 65,536. The default is default_workers().
    stream workers(std::int64_t count) && { return std::move(*this).set(ANABRANCH_WORKERS, count); }
    // The number of items that may be between the source and the end at once: 1 to 2^31.
    stream window(std::int64_t items) && { return std::move(*this).set(ANABRANCH_WINDOW, items); }
    // The number of items that a worker claims at once: 1 to 2^31.
    stream burst(std::int64_t items) && { return std::move(*this).set(ANABRANCH_BURST, items); }
    // The number of calls of the last stage, which must be parallel, that may run at once: 1 to 65,536.
    stream replicate(std::int64_t count) && { return std::move(*this).set(ANABRANCH_REPLICAS, count); }
    // States that the source never waits, for example for a file or for another thread. Its items then travel in
    // blocks, and small items cost less. The source may be asked for the rest of a block after the stream has ended
    // early. To be called before the first stage and before window_bytes. The numbers of iota never wait, and neither do the elements of
    // vectors, arrays and deques.
    stream in_blocks() && {
        begins("in_blocks");
        if (is_weighed_) throw std::invalid_argument("in_blocks() follows window_bytes: call it before");
        return std::move(*this).set(ANABRANCH_IN_BLOCKS, 1);
    }
    // Makes one waiting thread spin and never park. The others park.
    stream spin() && { return std::move(*this).set(ANABRANCH_SPIN, 1); }
    // Runs everything on the caller's thread, item by item. This is the reference: all other ways to run must give the
    // same results.
    stream run_inline() && { return std::move(*this).set(ANABRANCH_INLINE, 1); }
    // Makes the report record the work of each thread over time.
    stream trace() && {
        detail::check(anabranch_measure(stream_.get(), 1));
        return std::move(*this);
    }
    // Sets the name of the last stage, for plans and reports.
    stream name(const std::string &text) && {
        detail::check(anabranch_name(stream_.get(), ANABRANCH_STAGE, text.c_str()));
        return std::move(*this);
    }
    // Sets the name of the stream and of its threads.
    stream title(const std::string &text) && {
        detail::check(anabranch_name(stream_.get(), ANABRANCH_TITLE, text.c_str()));
        return std::move(*this);
    }
    // Lets a token stop the stream from outside.
    stream cancel_by(const cancel_token &token) && {
        detail::check(anabranch_cancel_by(stream_.get(), token.token_.get()));
        return std::move(*this);
    }
    // Makes the end write the report to `into`, which must exist until then.
    stream report(anabranch::report &into) && {
        detail::check(anabranch_measure(stream_.get(), 0));
        report_ = &into;
        return std::move(*this);
    }
    // Calls `f` with a `progress` at most ten times a second, and once at the end. `f` may not throw.
    template <class F>
    stream on_progress(F f) && {
        anabranch_progress_fn tell = [](void *context, std::uint64_t items, std::uint64_t nanoseconds) noexcept {
            detail::calling here(context);
            (*static_cast<F *>(context))(progress{items, std::chrono::nanoseconds(nanoseconds)});
        };
        auto context = std::make_unique<F>(std::move(f));
        detail::check(anabranch_on_progress(stream_.get(), tell, context.release(), &detail::release<F>));
        return std::move(*this);
    }
    // Limits the bytes in flight. f(item) is called for each item of the source, and returns the bytes that the item
    // stands for. While the items in flight stand for `bytes` or more, the source is not asked. To be called before
    // the first stage. `f` may not throw.
    template <class F>
    stream window_bytes(std::uint64_t bytes, F f) && {
        begins("window_bytes");
        is_weighed_ = true;
        anabranch_weigh_fn weigh = [](void *context, void *item) noexcept -> std::uint64_t {
            detail::calling here;
            const F &weight = *static_cast<const F *>(context);
            return cell::look(item, [&](const T &value) -> std::uint64_t { return weight(value); });
        };
        auto context = std::make_unique<F>(std::move(f));
        detail::check(
            anabranch_window_bytes(stream_.get(), bytes, weigh, context.release(), &detail::release<F>));
        return std::move(*this);
    }
    // Returns the plan of the stream.
    std::string plan(format as = format::text) const {
        return detail::take_text(anabranch_plan(stream_.get(), static_cast<int>(as)));
    }

    // ---- Ends: they run the stream ----

    // Calls `f` with each item, in order.
    template <class F>
    void for_each(F f) && {
        detail::check_serial<F, T &&>();
        std::move(*this).end("for_each", [&f](T &item) -> int {
            f(std::move(item));
            return ANABRANCH_DROP;
        });
    }

    // Folds the items, in order: state = f(std::move(state), item).
    template <class A, class F>
    A fold(A state, F f) && {
        std::move(*this).end("fold", [&](T &item) -> int {
            state = f(std::move(state), std::move(item));
            return ANABRANCH_DROP;
        });
        return state;
    }

    // Adds the items, in order, to the end of a container.
    template <class C = std::vector<T>>
    C collect(C into = C()) && {
        std::move(*this).end("collect", [&into](T &item) -> int {
            into.insert(into.end(), std::move(item));
            return ANABRANCH_DROP;
        });
        return into;
    }

    // Counts the items.
    std::size_t count() && {
        std::size_t count = 0;
        std::move(*this).end("count", [&count](T &) -> int {
            ++count;
            return ANABRANCH_DROP;
        });
        return count;
    }

    // Returns the first item for which `f` returns true. `f` is not called for the items after it.
    template <class F>
    std::optional<T> find(F f) && {
        std::optional<T> found;
        std::move(*this).end("find", [&](T &item) -> int {
            if (!f(std::as_const(item))) return ANABRANCH_DROP;
            found.emplace(std::move(item));
            return ANABRANCH_END;
        });
        return found;
    }

    // Starts a stream made by `sent` on threads of its own, with `f` as its end. Variables that stages capture by
    // reference must outlive the stream.
    template <class F>
    started<Sent> start(F f) && {
        static_assert(!std::is_void_v<Sent>, "a stream with a source is not sent items: its end runs it");
        anabranch_stage_fn call = [](void *context, void *, void **item) {
            return detail::guarded(context, item, [&] {
                cell::take(*item, [&](T &value) { (*static_cast<F *>(context))(std::move(value)); });
                return static_cast<int>(ANABRANCH_DROP);
            });
        };
        auto owned = std::make_unique<F>(std::move(f));
        detail::check(
            anabranch_serial_map(stream_.get(), call, owned.release(), &detail::release<F>, nullptr));
        return started<Sent>(std::move(stream_), report_);
    }

  private:
    template <class U, class S>
    friend class stream;
    template <class Next>
    friend auto from_fn(Next next);
    template <class U>
    friend auto sent();

    explicit stream(detail::handle handle, anabranch::report *report = nullptr, bool has_stage = false)
        : stream_(std::move(handle)), report_(report), has_stage_(has_stage) {}

    // Throws if `method`, which is about the items of the source, follows a stage.
    void begins(const char *method) const {
        if (has_stage_) {
            throw std::invalid_argument(std::string(method) + "() follows a stage: call it before the first stage");
        }
    }

    stream set(int setting, std::int64_t value) && {
        detail::check(anabranch_set(stream_.get(), setting, value));
        return std::move(*this);
    }

    // Adds a stage with its context.
    template <class U, class Describe, class Context>
    stream<U, Sent> add(Describe describe, anabranch_stage_fn call, std::unique_ptr<Context> context) && {
        detail::check(describe(stream_.get(), call, context.release(), &detail::release<Context>,
                               detail::cell<U>::destroyer));
        return stream<U, Sent>(std::move(stream_), report_, true);
    }

    template <class U, class Step, class F>
    stream<U, Sent> parallel(F f) && {
        anabranch_stage_fn call = [](void *context, void *, void **item) {
            return detail::guarded(nullptr, item, [&] {
                const F &stage = *static_cast<const F *>(context);
                return cell::take(*item, [&](T &value) { return Step::template call<U>(stage, value, item); });
            });
        };
        return std::move(*this).template add<U>(anabranch_map, call, std::make_unique<F>(std::move(f)));
    }

    template <class U, class Step, class F>
    stream<U, Sent> one_by_one(F f) && {
        anabranch_stage_fn call = [](void *context, void *, void **item) {
            return detail::guarded(context, item, [&] {
                F &stage = *static_cast<F *>(context);
                return cell::take(*item, [&](T &value) { return Step::template call<U>(stage, value, item); });
            });
        };
        return std::move(*this).template add<U>(anabranch_serial_map, call, std::make_unique<F>(std::move(f)));
    }

    // Runs the stream with `f` as its end. `f` returns a status for each item.
    template <class F>
    void end(const char *name, F f) && {
        static_assert(std::is_void_v<Sent>, "a stream that is sent items is started: start(f)");
        anabranch_stage_fn call = [](void *context, void *, void **item) {
            return detail::guarded(context, item, [&]() -> int {
                return cell::take(*item, [&](T &value) { return (*static_cast<F *>(context))(value); });
            });
        };
        detail::handle run = std::move(stream_);
        detail::check(anabranch_serial_map(run.get(), call, &f, nullptr, nullptr));
        detail::check(anabranch_name(run.get(), ANABRANCH_STAGE, name));
        void *error = nullptr;
        detail::release_to(&detail::begins);
        int status = anabranch_run(run.get(), &error);
        if (report_ != nullptr && status != ANABRANCH_INVALID) report_->read(run.get());
        detail::rethrow(status, error);
    }

    detail::handle stream_;
    anabranch::report *report_ = nullptr;
    bool has_stage_ = false;
    bool is_weighed_ = false;
};

// Creates a stream of the items that a function returns, until it returns an empty std::optional.
template <class Next>
auto from_fn(Next next) {
    using O = detail::result_t<Next &>;
    static_assert(detail::is_optional<O>::value, "from_fn needs a function that gives a std::optional");
    using T = typename O::value_type;
    anabranch_source_fn call = [](void *context, void **item) {
        return detail::guarded(context, item, [&] {
            O given = (*static_cast<Next *>(context))();
            if (!given) return static_cast<int>(ANABRANCH_END);
            detail::put<T>(item, *std::move(given));
            return static_cast<int>(ANABRANCH_NEXT);
        });
    };
    detail::handle stream = detail::new_stream();
    auto owned = std::make_unique<Next>(std::move(next));
    detail::check(anabranch_source(stream.get(), call, owned.release(), &detail::release<Next>,
                                   detail::cell<T>::destroyer));
    return anabranch::stream<T>(std::move(stream));
}

namespace detail {

template <class Iterator, class = void>
struct jumps : std::false_type {};
template <class Iterator>
struct jumps<Iterator, std::void_t<typename std::iterator_traits<Iterator>::iterator_category>>
    : std::is_convertible<typename std::iterator_traits<Iterator>::iterator_category, std::random_access_iterator_tag> {};

// An iterator that can jump to any element has its elements in memory, or computes them.
template <class Iterator, class Stream>
Stream without_waits(Stream items) {
    if constexpr (jumps<Iterator>::value) return std::move(items).in_blocks();
    return items;
}

} // namespace detail

// Creates a stream of the elements between two iterators. Only one thread at a time uses the iterators.
template <class Iterator, class End>
auto from(Iterator first, End last) {
    using T = std::decay_t<decltype(*first)>;
    // As in the loop, the iterator advances only when the next item is asked for.
    auto items = from_fn([first = std::move(first), last = std::move(last), given = false]() mutable -> std::optional<T> {
        if (given) ++first;
        given = first != last;
        if (!given) return std::nullopt;
        return std::optional<T>(*first);
    });
    return detail::without_waits<Iterator>(std::move(items));
}

// Creates a stream of the elements of a range. If the range is an lvalue, the elements are copied, and the range must
// outlive the stream. If it is an rvalue, the elements are moved out of it.
template <class Range>
auto from(Range &&range) {
    using std::begin;
    using std::end;
    if constexpr (std::is_lvalue_reference_v<Range>) {
        return from(begin(range), end(range));
    } else {
        using Iterator = decltype(begin(range));
        struct kept {
            Range range;
            Iterator next;
            bool given;
        };
        // The range is on the heap, because moving a range may move its elements.
        std::unique_ptr<kept> owner(new kept{std::move(range), Iterator(), false});
        owner->next = begin(owner->range);
        using T = std::decay_t<decltype(*owner->next)>;
        auto items = from_fn([owner = std::move(owner)]() -> std::optional<T> {
            if (owner->given) ++owner->next;
            owner->given = owner->next != end(owner->range);
            if (!owner->given) return std::nullopt;
            return std::optional<T>(std::move(*owner->next));
        });
        return detail::without_waits<Iterator>(std::move(items));
    }
}

// Creates a stream of the numbers from `first` to `last`, without `last`.
template <class Number>
auto iota(Number first, Number last) {
    auto numbers = from_fn([first, last]() mutable -> std::optional<Number> {
        if (!(first < last)) return std::nullopt;
        return first++;
    });
    return std::move(numbers).in_blocks();
}

// Creates a stream whose items are sent by a loop of the caller. Its end is `start`.
template <class T>
auto sent() {
    return stream<T, T>(detail::new_stream());
}

} // namespace anabranch

#endif
