// An array that grows by realloc: large blocks are moved by the operating system, not copied.
#pragma once

#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace ramify {

/// std::vector doubles its memory while it grows; for arrays that fill most of the memory this one
/// stays close to its own size. Elements are not initialised.
template <typename T>
class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T>);

    struct Free {
        void operator()(T* p) const noexcept { std::free(p); }
    };

  public:
    using Owner = std::unique_ptr<T[], Free>;

    std::size_t size() const { return size_; }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

    void push_back(T value) { *append(1) = value; }

    void append(const T* values, std::size_t n) {
        if (n > 0) std::memcpy(append(n), values, n * sizeof(T));
    }

    /// Room for n more elements, to be written by the caller.
    T* append(std::size_t n) {
        if (n > capacity_ - size_) grow(n);
        T* place = data_.get() + size_;
        size_ += n;
        return place;
    }

    /// Gives the unused room back and hands the memory over; the array is empty afterwards.
    Owner release() {
        if (size_ < capacity_) resize_memory(size_ > 0 ? size_ : 1);
        size_ = capacity_ = 0;
        return std::move(data_);
    }

  private:
    void grow(std::size_t n) {
        constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);
        if (n > most - size_) throw std::bad_alloc();
        const std::size_t wanted = size_ + n;
        const std::size_t roomy = capacity_ < most / 2 ? capacity_ + capacity_ / 4 + 16 : most;
        resize_memory(roomy > wanted ? roomy : wanted);
    }

    void resize_memory(std::size_t capacity) {
        void* moved = std::realloc(data_.get(), capacity * sizeof(T));
        if (moved == nullptr) throw std::bad_alloc();
        (void)data_.release();  // realloc has taken care of the old block
        data_.reset(static_cast<T*>(moved));
        capacity_ = capacity;
    }

    Owner data_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace ramify
