// The memory of the items that a loop sends. Programs do not use it directly.
#ifndef ANABRANCH_RECYCLER_HPP
#define ANABRANCH_RECYCLER_HPP

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace anabranch {
namespace detail {

// Memory for items that one thread makes and that any threads destroy. It is slow to get memory from the heap on one
// thread and to give it back on another. Here the memory of a destroyed item is used again for a later one.
//
// The items are in the cells of blocks, and the blocks form a ring. The thread that makes items walks along the ring,
// and uses each cell that is free. Items are destroyed in about the order in which they were made, so the next cell is
// usually free. If no cell of the next block is free, a new block is put in front of that block. So the memory is
// little more than the items that were alive at one time have needed.
//
// The thread that destroys an item marks the item's cell (a store that releases). The thread that uses the cell again
// has read the mark (a load that acquires), so the old item is gone when the new one is made. A recycler must outlive
// its items.
template <class T>
class recycler {
    struct cell {
        alignas(T) unsigned char bytes[sizeof(T)];
        std::atomic<bool> is_free{true};
    };
    // A block has about this many bytes, and 64 cells at most.
    static constexpr std::size_t BLOCK_BYTES = 4096;
    static constexpr std::size_t FITTING = BLOCK_BYTES / sizeof(cell);
    static constexpr std::size_t CELLS = FITTING < 1 ? 1 : FITTING > 64 ? 64 : FITTING;
    struct block {
        cell cells[CELLS];
        block *next = this;
    };

  public:
    recycler() = default;
    recycler(const recycler &) = delete;
    recycler &operator=(const recycler &) = delete;
    ~recycler() {
        if (block_ == nullptr) return;
        for (block *at = block_->next; at != block_;) delete std::exchange(at, at->next);
        delete block_;
    }

    // Makes an item. Only one thread may call this. If the constructor throws, there is no item.
    template <class... From>
    T *make(From &&...from) {
        cell *place = free_cell();
        T *item = ::new (static_cast<void *>(place->bytes)) T(std::forward<From>(from)...);
        place->is_free.store(false, std::memory_order_relaxed);
        next_ += 1;
        return item;
    }

    // Destroys an item of any recycler, on any thread.
    static void destroy(T *item) noexcept {
        cell *place = reinterpret_cast<cell *>(item);
        item->~T();
        place->is_free.store(true, std::memory_order_release);
    }

    // Destroys an item when it goes out of scope.
    struct destroyer {
        void operator()(T *item) const noexcept { destroy(item); }
    };
    using owner = std::unique_ptr<T, destroyer>;

  private:
    // Finds a free cell, and sets `next_` to it.
    cell *free_cell() {
        if (cell *found = free_cell_of(block_, next_)) return found;
        if (block_ != nullptr) {
            if (cell *found = free_cell_of(block_->next, 0)) {
                block_ = block_->next;
                return found;
            }
        }
        block *fresh = new block;
        if (block_ != nullptr) fresh->next = std::exchange(block_->next, fresh);
        block_ = fresh;
        next_ = 0;
        return &fresh->cells[0];
    }

    // The same in a block, from the cell with the index `first` on.
    cell *free_cell_of(block *of, std::size_t first) {
        for (std::size_t at = first; of != nullptr && at < CELLS; at++) {
            if (!of->cells[at].is_free.load(std::memory_order_acquire)) continue;
            next_ = at;
            return &of->cells[at];
        }
        return nullptr;
    }

    block *block_ = nullptr; // the block of the next cell, if there is a block
    std::size_t next_ = 0;   // the index of the next cell to look at
};

} // namespace detail
} // namespace anabranch

#endif
