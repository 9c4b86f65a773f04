// Uninitialised memory for values that are about to be written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace ramify {

/// Unlike std::vector it does not initialise new memory, of which only a part may be used, and
/// does not keep the old content when it grows.
template <typename T>
class Scratch {
  public:
    T* data() { return values_.get(); }
    const T* data() const { return values_.get(); }
    T& operator[](std::size_t i) { return values_[i]; }
    const T& operator[](std::size_t i) const { return values_[i]; }

    void make_room(std::size_t n) {
        if (values_ != nullptr && capacity_ >= n) return;
        // Grows geometrically: the memory is reused for nodes of all sizes.
        capacity_ = std::max(n, 2 * capacity_);
        values_ = std::make_unique_for_overwrite<T[]>(capacity_);
    }

  private:
    std::unique_ptr<T[]> values_;
    std::size_t capacity_ = 0;
};

}  // namespace ramify
