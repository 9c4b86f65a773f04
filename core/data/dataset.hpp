// The columns of X, prepared once per fit: every numeric value becomes a rank, so that later
// stages compare and sort small integers only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "data/codes.hpp"
#include "data/distinct_values.hpp"
#include "data/matrix.hpp"

namespace ramify {

/// One cell of a numeric column. Rank 0 is the largest value of the column.
struct RankedRow {
    std::uint32_t row;
    std::uint32_t rank;
};

enum class FeatureKind : std::uint8_t {
    dense,    // numeric, a rank for every row
    sparse,   // numeric, only cells that are not zero are stored
    nominal,  // a category code for every row
};

/// One column. Which members are filled depends on the kind.
struct Feature {
    FeatureKind kind = FeatureKind::dense;
    DistinctValues values;  // numeric: decreasing; values[rank]
    // Dense, and sparse unless very few cells are stored: rank per row, or missing_rank.
    std::vector<std::uint32_t> ranks;
    std::vector<RankedRow> stored;            // sparse: by rank, then row; cells that are not zero
    std::vector<RankedRow> stored_by_row;     // sparse: the same cells by row
    std::vector<std::uint32_t> missing_rows;  // sparse: rows whose value is missing
    std::uint32_t zero_rank = 0;              // sparse: the rank of 0.0 in values
    std::vector<std::int32_t> codes;          // nominal: code per row; -1: missing
    std::int32_t n_categories = 0;            // nominal
    std::int32_t common = -1;                 // nominal: the most frequent code
};

inline constexpr std::uint32_t missing_rank = 0xFFFFFFFFu;

/// An entry of a node and the rank of its value, or missing_rank.
struct RankedEntry {
    std::uint32_t entry;
    std::uint32_t rank;
};

/// How to convert X. `n_categories[f]` > 0 makes column f nominal: its cells are codes below that
/// number. NaN is a missing cell. Columns with more than half of their cells zero are stored
/// sparse, unless `all_dense`: scans skip the zeros of a sparse column, which changes the order of
/// sums. Columns are divided among the threads.
struct Conversion {
    std::span<const std::int32_t> n_categories;
    bool all_dense;
    unsigned n_threads;
};

/// Receives a converted column; several threads call it at the same time.
using FeatureTaker = std::function<void(std::size_t column, Feature feature)>;

/// Converts column after column, so that a caller that does not keep the features needs memory
/// for a few at a time only. Returns whether any cell is missing.
template <typename T>
bool convert_columns(MatrixView<T> X, const Conversion& conversion, StopSignal& signal,
                     const FeatureTaker& take);
bool convert_columns(CscView X, const Conversion& conversion, StopSignal& signal,
                     const FeatureTaker& take);

struct Dataset {
    std::size_t n_rows = 0;
    std::vector<Feature> features;
    bool any_missing = false;
    std::shared_ptr<CodeCache> codes = std::make_shared<CodeCache>();

    bool has(FeatureKind kind) const {
        return std::ranges::any_of(features, [&](const Feature& f) { return f.kind == kind; });
    }

    template <typename T>
    static Dataset from(MatrixView<T> X, const Conversion& conversion, StopSignal& signal);
    static Dataset from(CscView X, const Conversion& conversion, StopSignal& signal);
};

}  // namespace ramify
