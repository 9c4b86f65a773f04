// Array types of the bindings: views of numpy arrays as arguments, numpy arrays that own a vector
// as results.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <vector>

namespace ramify::bindings {

namespace nb = nanobind;

/// A read-only, contiguous, one-dimensional numpy array of T.
template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.size()};
}

/// A one-dimensional numpy array of T that owns its memory.
template <typename T>
using Owned = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

/// Hands a vector to numpy without copying it.
template <typename T>
Owned<T> to_numpy(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    nb::capsule owner(owned.release(),
                      [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Owned<T>(data, {size}, owner);
}

}  // namespace ramify::bindings
