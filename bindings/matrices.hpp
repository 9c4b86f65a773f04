// Matrices as arguments: numpy views, and checks before the core is called.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "arrays.hpp"
#include "data/dataset.hpp"
#include "tree/predict.hpp"
#include "tree/tree.hpp"

namespace ramify::bindings {

template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

template <typename T>
MatrixView<T> matrix_view(const Matrix<T>& X) {
    return {X.data(), X.shape(0), X.shape(1), X.stride(0), X.stride(1)};
}

inline void check_compressed(std::span<const std::int64_t> indptr,
                             std::span<const std::int32_t> indices, std::size_t bound) {
    require(!indptr.empty() && indptr.front() == 0 &&
                indptr.back() == static_cast<std::int64_t>(indices.size()),
            "indptr must start at 0 and end at len(indices)");
    for (std::size_t r = 0; r + 1 < indptr.size(); ++r) {
        require(indptr[r] <= indptr[r + 1], "indptr must not decrease");
    }
    // Sorted and without duplicates, so that no cell is counted twice.
    for (std::size_t r = 0; r + 1 < indptr.size(); ++r) {
        for (auto k = indptr[r]; k < indptr[r + 1]; ++k) {
            const auto index = indices[static_cast<std::size_t>(k)];
            require(index >= 0 && static_cast<std::size_t>(index) < bound,
                    "indices must lie within the matrix");
            require(k == indptr[r] || indices[static_cast<std::size_t>(k) - 1] < index,
                    "indices must increase within a row or column");
        }
    }
}

/// Counts once, as counting takes longer than the prediction of a row. Needs Python's lock.
inline void check_prediction(const Tree& tree, std::size_t n_features, std::size_t n_labels) {
    auto& extent = tree.extent;
    if (extent.n_features < 0) {
        std::int32_t feature = -1;
        std::int32_t label = -1;
        for (const auto f : tree.feature) feature = std::max(feature, f);
        for (const auto l : tree.value_label) {
            require(l >= 0, "out has fewer columns than labels");
            label = std::max(label, l);
        }
        extent.n_features = feature + 1;
        extent.n_labels = label + 1;
    }
    require(static_cast<std::size_t>(extent.n_features) <= n_features,
            "X has fewer columns than the tree tests");
    require(static_cast<std::size_t>(extent.n_labels) <= n_labels,
            "out has fewer columns than labels");
}

inline Mixing mixing_of(bool by_node) {
    return by_node ? Mixing::by_node : Mixing::by_leaf;
}

}  // namespace ramify::bindings
