#include "linear/rows.hpp"

namespace ramify {

LinearRows::LinearRows(const CsrView& X, std::span<const std::int64_t> chosen) {
    std::vector<std::int32_t> place(X.n_columns, -1);
    std::size_t n_cells = 0;
    for (const auto row : chosen) {
        const auto r = static_cast<std::size_t>(row);
        n_cells += static_cast<std::size_t>(X.indptr[r + 1] - X.indptr[r]);
        for (auto k = X.indptr[r]; k < X.indptr[r + 1]; ++k) {
            place[static_cast<std::size_t>(X.indices[static_cast<std::size_t>(k)])] = 0;
        }
    }
    for (std::size_t j = 0; j < place.size(); ++j) {
        if (place[j] < 0) continue;
        place[j] = static_cast<std::int32_t>(features.size());
        features.push_back(static_cast<std::int32_t>(j));
    }
    indptr.reserve(chosen.size() + 1);
    indptr.push_back(0);
    indices.reserve(n_cells);
    values.reserve(n_cells);
    squares.reserve(chosen.size());
    for (const auto row : chosen) {
        const auto r = static_cast<std::size_t>(row);
        double square = 0;
        for (auto k = X.indptr[r]; k < X.indptr[r + 1]; ++k) {
            const auto cell = static_cast<std::size_t>(k);
            const auto value = static_cast<float>(X.data[cell]);
            indices.push_back(place[static_cast<std::size_t>(X.indices[cell])]);
            values.push_back(value);
            square += static_cast<double>(value) * static_cast<double>(value);
        }
        indptr.push_back(static_cast<std::int64_t>(indices.size()));
        squares.push_back(square);
    }
}

}  // namespace ramify
