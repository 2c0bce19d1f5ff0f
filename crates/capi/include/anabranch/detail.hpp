// Passes values, functions and exceptions of C++ to the library and back. Programs do not use it directly.
#ifndef ANABRANCH_DETAIL_HPP
#define ANABRANCH_DETAIL_HPP

#if !defined(__cpp_exceptions) && !defined(__EXCEPTIONS) && !defined(_CPPUNWIND)
#error "anabranch.hpp needs exceptions: compile the program without -fno-exceptions"
#endif

#include "../anabranch.h"

#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace anabranch {
namespace detail {

// Tells ThreadSanitizer how the threads of the library synchronise, which it cannot see. Without ThreadSanitizer these
// functions do nothing.
#if defined(__SANITIZE_THREAD__)
#define ANABRANCH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ANABRANCH_TSAN 1
#endif
#endif
#ifdef ANABRANCH_TSAN
extern "C" void __tsan_acquire(void *address);
extern "C" void __tsan_release(void *address);
inline void acquire(void *address) { __tsan_acquire(address); }
inline void release_to(void *address) { __tsan_release(address); }
#else
inline void acquire(void *) {}
inline void release_to(void *) {}
#endif
// The functions of a stream see everything that its caller has done before the stream began. After its end, the caller
// sees everything that the functions have done.
inline char begins = 0, ends = 0;

// A guard for a call of one of the stream's functions. `serial` is the context of a function that only one thread at a
// time calls.
class calling {
  public:
    explicit calling(void *serial = nullptr) : serial_(serial) {
        acquire(&begins);
        if (serial_ != nullptr) acquire(serial_);
    }
    ~calling() {
        if (serial_ != nullptr) release_to(serial_);
        release_to(&ends);
    }
    calling(const calling &) = delete;
    calling &operator=(const calling &) = delete;

  private:
    void *serial_;
};

// The largest size of an item, in bytes.
inline constexpr std::size_t largest_item = 128 << 10;

// An item, in the form in which the library passes it. Small plain values are in the pointer itself, others on the
// heap.
template <class T>
struct cell {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>, "the items of a stream are values");
    static_assert(std::is_move_constructible_v<T>, "the items of a stream can be moved");
    static_assert(sizeof(T) <= largest_item,
                  "an item has at most 128 KiB: put a larger one into a std::vector or a std::unique_ptr");
    static constexpr bool is_inline = sizeof(T) <= sizeof(void *) && std::is_trivially_copyable_v<T>;

    static void *put(T &&value) {
        if constexpr (is_inline) {
            void *pointer = nullptr;
            std::memcpy(&pointer, std::addressof(value), sizeof(T));
            return pointer;
        } else {
            T *pointer = new T(std::move(value));
            release_to(pointer);
            return pointer;
        }
    }

    // Calls `f` with the item, and does not take the item.
    template <class F>
    static decltype(auto) look(void *pointer, F &&f) {
        if constexpr (is_inline) {
            union place {
                T value;
                char byte;
                place() : byte() {}
            } held;
            std::memcpy(static_cast<void *>(std::addressof(held.value)), &pointer, sizeof(T));
            return f(held.value);
        } else {
            acquire(pointer);
            return f(*static_cast<T *>(pointer));
        }
    }

    // Calls `f` with the item, and destroys the item afterwards.
    template <class F>
    static decltype(auto) take(void *pointer, F &&f) {
        if constexpr (!is_inline) {
            acquire(pointer);
            std::unique_ptr<T> owner(static_cast<T *>(pointer));
            return f(*owner);
        } else {
            return look(pointer, std::forward<F>(f));
        }
    }

    static void destroy(void *pointer) noexcept {
        acquire(pointer);
        delete static_cast<T *>(pointer);
    }
    static constexpr anabranch_destroy destroyer = is_inline ? nullptr : &cell::destroy;
};

// Destroys a function that was handed to the library.
template <class F>
void release(void *context) noexcept {
    delete static_cast<F *>(context);
}

inline void destroy_error(void *error) noexcept {
    acquire(error);
    delete static_cast<std::exception_ptr *>(error);
}

// Calls `body`, and turns its exception into an error.
template <class Body>
int guarded(void *serial, void **item, Body &&body) noexcept {
    calling here(serial);
    try {
        return body();
    } catch (...) {
        *item = new std::exception_ptr(std::current_exception());
        release_to(*item);
        return ANABRANCH_FAIL;
    }
}

inline void check(int status) {
    if (status == ANABRANCH_INVALID) throw std::invalid_argument(anabranch_last_error());
    if (status != ANABRANCH_OK) throw std::runtime_error(anabranch_last_error());
}

// Throws the error of a run, if there is one.
inline void rethrow(int status, void *error) {
    acquire(&ends);
    if (status == ANABRANCH_FAILED && error != nullptr) {
        acquire(error);
        std::unique_ptr<std::exception_ptr> owner(static_cast<std::exception_ptr *>(error));
        std::rethrow_exception(*owner);
    }
    check(status);
}

struct free_stream {
    void operator()(anabranch_stream *stream) const noexcept { anabranch_stream_free(stream); }
};
using handle = std::unique_ptr<anabranch_stream, free_stream>;

inline handle new_stream() {
    if (anabranch_abi() != ANABRANCH_ABI) {
        throw std::runtime_error("anabranch.hpp does not fit the library that the program is linked with: install both "
                                 "from one version");
    }
    handle stream(anabranch_stream_new());
    if (!stream) throw std::runtime_error(anabranch_last_error());
    check(anabranch_errors(stream.get(), &destroy_error));
    return stream;
}

struct free_text {
    void operator()(char *text) const noexcept { anabranch_text_free(text); }
};

inline std::string take_text(char *text) {
    std::unique_ptr<char, free_text> owner(text);
    if (!owner) throw std::invalid_argument(anabranch_last_error());
    return std::string(owner.get());
}

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

// The result of a function. A function that cannot be called has none: the check of its stage says so.
struct no_result {};
template <bool Fits, class F, class... Args>
struct result_of {
    using type = no_result;
};
template <class F, class... Args>
struct result_of<true, F, Args...> {
    using type = std::decay_t<std::invoke_result_t<F, Args...>>;
};
template <class F, class... Args>
using result_t = typename result_of<std::is_invocable_v<F, Args...>, F, Args...>::type;

// Says in plain words why a function does not fit a stage. `Args` are passed before the item.
template <class Fits, class F, class Item, class... Args>
constexpr void check_item() {
    using by_reference =
        std::conjunction<std::negation<Fits>, std::is_invocable<F &, Args..., std::add_lvalue_reference_t<std::decay_t<Item>>>>;
    static_assert(!by_reference::value,
                  "the function takes its item by T &, but the item is not a variable of the caller: take it by value, by T && or "
                  "by const T &");
    static_assert(std::disjunction_v<Fits, by_reference>, "the function cannot be called with the items of the stream");
}
template <class F, class Item, class... Args>
constexpr void check_serial() {
    check_item<std::is_invocable<F &, Args..., Item>, F, Item, Args...>();
}
template <class F, class Item, class... Args>
constexpr void check_parallel() {
    using fits = std::is_invocable<const F &, Args..., Item>;
    using changes = std::conjunction<std::negation<fits>, std::is_invocable<F &, Args..., Item>>;
    static_assert(!changes::value,
                  "the stage runs for several items at once, so its function must not change itself: leave out `mutable`, or use "
                  "serial, or map_init for a state of each worker");
    check_item<std::disjunction<fits, changes>, F, Item, Args...>();
}

template <class U, class V>
void put(void **out, V &&value) {
    *out = cell<U>::put(U(std::forward<V>(value)));
}

// The kinds of stages: each one says how the result of its function is used.
struct map_step {
    template <class U, class F, class T>
    static int call(F &f, T &item, void **out) {
        put<U>(out, f(std::move(item)));
        return ANABRANCH_NEXT;
    }
};

struct filter_map_step {
    template <class U, class F, class T>
    static int call(F &f, T &item, void **out) {
        auto given = f(std::move(item));
        if (!given) return ANABRANCH_DROP;
        put<U>(out, *std::move(given));
        return ANABRANCH_NEXT;
    }
};

// Passes on an item if the function returns true for it.
template <int Otherwise>
struct pass_step {
    template <class U, class F, class T>
    static int call(F &f, T &item, void **out) {
        if (!f(std::as_const(item))) return Otherwise;
        put<U>(out, std::move(item));
        return ANABRANCH_NEXT;
    }
};

struct inspect_step {
    template <class U, class F, class T>
    static int call(F &f, T &item, void **out) {
        f(std::as_const(item));
        put<U>(out, std::move(item));
        return ANABRANCH_NEXT;
    }
};

} // namespace detail

} // namespace anabranch

#endif
