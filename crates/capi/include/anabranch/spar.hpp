// The functions that spar++ calls in the code that it writes in place of annotations. Programs do not call them
// directly.
#ifndef ANABRANCH_SPAR_HPP
#define ANABRANCH_SPAR_HPP

#include "detail.hpp"
#include "recycler.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>

namespace anabranch {
namespace spar {

// The settings of a region.
struct options {
    bool is_ordered;
    unsigned on_demand; // how many items wait for each replica at most; 0 means the default window
    int line;           // the line of the region
};

// The number of calls of a stage that may run at once. 0 means a serial stage.
struct replicas {
    std::int64_t count;
};

inline replicas serial() { return {0}; }

// `Replicate()`: the value of SPAR_NUM_WORKERS if it is 1 or more, otherwise the number of processors.
inline replicas replicate() {
    const char *text = std::getenv("SPAR_NUM_WORKERS");
    long long count = text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
    return {count > 0 ? static_cast<std::int64_t>(count) : static_cast<std::int64_t>(anabranch_default_workers())};
}

// `Replicate(n)`.
template <class N>
replicas replicate(N count, const char *file, int line) {
    static_assert(std::is_integral_v<N>, "spar::Replicate takes a whole number");
    if (count < 1 || static_cast<unsigned long long>(count) > 65536) {
        throw std::invalid_argument(std::string(file) + ":" + std::to_string(line) +
                                    ": spar::Replicate has to be 1 to 65536, and is " + std::to_string(count));
    }
    return {static_cast<std::int64_t>(count)};
}

// The place of a variable in an item. For a reference, it has a copy of the object behind the reference.
template <class T>
class slot {
    using value = std::remove_cv_t<std::remove_reference_t<T>>;
    static_assert(!std::is_void_v<value>, "a stage needs a variable here");

  public:
    template <class From>
    explicit slot(From &&from) : value_(std::forward<From>(from)) {}
    // A const variable is const in the stages too.
    using seen = std::conditional_t<std::is_const_v<std::remove_reference_t<T>>, const value, value>;
    seen &get() { return value_; }

  private:
    value value_;
};

// Arrays are copied and moved element by element.
template <class E, std::size_t N>
class slot<E[N]> {
    using element = std::remove_cv_t<std::remove_all_extents_t<E>>;

  public:
    template <class From>
    explicit slot(From &&from) {
        assign<std::is_rvalue_reference_v<From &&>>(value_, from);
    }
    E (&get())[N] { return value_; }

  private:
    template <bool Moves, class To, class From>
    static void assign(To &to, From &from) {
        if constexpr (std::is_array_v<To>) {
            for (std::size_t at = 0; at < std::extent_v<To>; at++) assign<Moves>(to[at], from[at]);
        } else if constexpr (Moves) {
            const_cast<element &>(to) = std::move(const_cast<element &>(from));
        } else {
            const_cast<element &>(to) = from;
        }
    }
    std::remove_const_t<E> value_[N];
};
template <class E, std::size_t N>
class slot<E (&)[N]> : public slot<E[N]> {
    using slot<E[N]>::slot;
};

// An item of a region: the variables that travel.
template <class... Ts>
struct item {
    std::tuple<slot<Ts>...> slots;
    bool is_dropped = false;
    template <class... From>
    explicit item(std::in_place_t, From &&...from) : slots(std::forward<From>(from)...) {}
};

template <std::size_t At, class... Ts>
decltype(auto) get(item<Ts...> &of) {
    return (std::get<At>(of.slots).get());
}

// Drops the item. It replaces a `continue` of the region's loop in a stage.
template <class... Ts>
void drop(item<Ts...> &of) {
    of.is_dropped = true;
}

// Copies a variable into the item, because it is still used elsewhere.
template <class T, class V>
const V &copy(const V &variable) {
    using element = std::remove_all_extents_t<V>;
    static_assert(std::is_copy_constructible_v<element>,
                  "several items would have a part of this variable, and it cannot be copied: declare it in the loop's body");
    return variable;
}

// Moves a variable of the loop's body into the item. The object behind a reference is copied.
template <class T, class V>
decltype(auto) give(V &variable) {
    if constexpr (std::is_reference_v<T> || std::is_const_v<std::remove_all_extents_t<V>>) {
        return copy<T>(variable);
    } else {
        return std::move(variable);
    }
}

// A region. Its stages run as a stream, and the user's loop sends the items.
class region {
  public:
    explicit region(options with) : options_(with) {}
    region(const region &) = delete;
    region &operator=(const region &) = delete;

    // A `return` or an exception that leaves the region's loop also ends the stream.
    ~region() noexcept(false) {
        if (stream_ && is_started_) {
            if (std::uncaught_exceptions() == exceptions_) {
                finish();
            } else {
                end(nullptr);
            }
        }
    }

    // Whether the stages were not added yet. The first item adds them, so an empty loop starts no thread.
    bool is_new() const { return !is_started_; }

    // Adds a stage.
    template <class Item, class F>
    void stage(replicas count, F f) {
        anabranch_stage_fn code = count.count == 0 ? call<Item, F, true> : call<Item, F, false>;
        add(count, code, new F(std::move(f)), &detail::release<F>, &destroy<Item>);
    }

    // Starts the stream, after all stages were added.
    template <class Item>
    void start() {
        items_ = memory(new detail::recycler<Item>, &detail::release<detail::recycler<Item>>);
        start(&destroy<Item>);
    }

    // Sends an item. If a stage has thrown an exception, throws that exception.
    template <class Item, class... From>
    void send(From &&...from) {
        auto *items = static_cast<detail::recycler<Item> *>(items_.get());
        Item *sent = items->make(std::in_place, std::forward<From>(from)...);
        detail::release_to(sent);
        int status = anabranch_send(stream_.get(), sent);
        if (status == ANABRANCH_STOPPED) return finish();
        set(status);
    }

    // Handles an exception of the source part. If a stage has failed at an earlier item, its exception is thrown
    // instead.
    [[noreturn]] void failed() {
        if (stream_ && is_started_) finish();
        throw;
    }

    // Waits until every item is finished. If a stage has thrown an exception, throws that exception.
    void finish() {
        if (!stream_ || !is_started_) return;
        void *error = nullptr;
        int status = end(&error);
        detail::rethrow(status, error);
    }

  private:
    static void set(int status) { detail::check(status); }

    // Adds a stage, whose code and items have lost their types.
    void add(replicas count, anabranch_stage_fn code, void *context, anabranch_destroy release, anabranch_destroy destroyer) {
        std::unique_ptr<void, anabranch_destroy> owned(context, release);
        if (!stream_) {
            stream_ = detail::new_stream();
            set(anabranch_name(stream_.get(), ANABRANCH_TITLE, "spar"));
            if (!options_.is_ordered) set(anabranch_unordered(stream_.get()));
        }
        stages_ += 1;
        threads_ += count.count > 0 ? count.count : 1;
        auto describe = count.count == 0 ? &anabranch_serial_map : &anabranch_map;
        set(describe(stream_.get(), code, owned.release(), release, destroyer));
        if (count.count > 0) set(anabranch_set(stream_.get(), ANABRANCH_REPLICAS, count.count));
        char name[32];
        std::snprintf(name, sizeof name, "stage %lld", static_cast<long long>(stages_));
        set(anabranch_name(stream_.get(), ANABRANCH_STAGE, name));
    }

    void start(anabranch_destroy destroyer) {
        if (options_.on_demand > 0) {
            // For each thread, this many items wait, and one more is being processed.
            set(anabranch_set(stream_.get(), ANABRANCH_WINDOW, threads_ * (1 + std::int64_t(options_.on_demand)) + 1));
            set(anabranch_set(stream_.get(), ANABRANCH_BURST, 1));
        }
        detail::release_to(&detail::begins);
        set(anabranch_start(stream_.get(), destroyer));
        is_started_ = true;
        exceptions_ = std::uncaught_exceptions();
    }

    int end(void **error) {
        detail::handle stream = std::move(stream_);
        int status = anabranch_finish(stream.get(), error);
        // No item is left, unless the library has a bug. In that case their memory is not given back.
        if (status == ANABRANCH_PANIC) (void)items_.release();
        return status;
    }

    template <class Item, class F, bool IsSerial>
    static int call(void *context, void *, void **place) {
        return detail::guarded(IsSerial ? context : nullptr, place, [&]() -> int {
            detail::acquire(*place);
            typename detail::recycler<Item>::owner item(static_cast<Item *>(*place));
            (*static_cast<const F *>(context))(*item);
            if (item->is_dropped) return ANABRANCH_DROP;
            detail::release_to(item.get());
            *place = item.release();
            return ANABRANCH_NEXT;
        });
    }

    template <class Item>
    static void destroy(void *item) noexcept {
        detail::acquire(item);
        detail::recycler<Item>::destroy(static_cast<Item *>(item));
    }

    using memory = std::unique_ptr<void, void (*)(void *)>;

    options options_;
    memory items_{nullptr, nullptr}; // a recycler, which is destroyed after the stream
    detail::handle stream_;
    bool is_started_ = false;
    int exceptions_ = 0;
    std::int64_t stages_ = 0, threads_ = 0;
};

} // namespace spar
} // namespace anabranch

#endif
