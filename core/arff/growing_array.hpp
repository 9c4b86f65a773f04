// An array that grows by realloc, so that the operating system can move large blocks without
// copying.
#pragma once

#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace ramify {

/// std::vector holds two copies of its elements while it grows. This array needs little more
/// memory than its own size, which matters if it fills most of the memory. Elements are not
/// initialised.
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

    /// Appends n uninitialised elements and returns a pointer to the first; the caller writes
    /// them.
    T* append(std::size_t n) {
        if (n > capacity_ - size_) grow(n);
        T* place = data_.get() + size_;
        size_ += n;
        return place;
    }

    /// Frees unused capacity and transfers ownership of the memory; the array is empty afterwards.
    Owner release() {
        if (size_ < capacity_) resize_memory(size_ > 0 ? size_ : 1);
        size_ = capacity_ = 0;
        return std::move(data_);
    }

  private:
    void grow(std::size_t n) {
        constexpr std::size_t max_size = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);
        if (n > max_size - size_) throw std::bad_alloc();
        const std::size_t needed = size_ + n;
        const std::size_t larger =
            capacity_ < max_size / 2 ? capacity_ + capacity_ / 4 + 16 : max_size;
        resize_memory(larger > needed ? larger : needed);
    }

    void resize_memory(std::size_t capacity) {
        void* moved = std::realloc(data_.get(), capacity * sizeof(T));
        if (moved == nullptr) throw std::bad_alloc();
        (void)data_.release();  // realloc has already freed the old block
        data_.reset(static_cast<T*>(moved));
        capacity_ = capacity;
    }

    Owner data_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace ramify
