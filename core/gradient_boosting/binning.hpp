// X in bins: every cell becomes a byte. Bins are numbered by decreasing value, like ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"

namespace ramify {

inline constexpr std::size_t max_bins_of_feature = 255;  // one more for missing values

struct BinnedFeature {
    bool nominal = false;
    std::uint8_t n_bins = 0;        // without the bin of missing values, which has this number
    std::vector<double> threshold;  // numeric: values above threshold[b] have a bin of at most b
    std::vector<std::uint8_t> bin_of_code;  // nominal: rare categories share the last bin
    std::vector<std::uint8_t> bins;         // dense: the bin of each row
    std::int32_t group = -1;                // sparse: which group has its cells
    std::uint32_t place = 0;                // sparse: its number in the group
    std::uint8_t zero_bin = 0;              // sparse: the bin of cells that are not stored

    bool is_sparse() const { return group >= 0; }
};

/// The last rank of a bin, and the first rank of the next bin that occurs.
struct Cut {
    std::size_t above;
    std::size_t below;
};

/// Divides ranks into bins of about equal weight, the sum over rows; a heavy rank has a bin of its
/// own, and ranks of weight 0 do not count. Whole weights, such as numbers of rows, give exact
/// cuts.
std::vector<Cut> find_cuts(std::span<const double> weights, std::size_t max_bins);

/// The bins of the codes with these weights: the heaviest come first, light ones share the last
/// bin, and codes without weight have the bin of missing values.
BinnedFeature bin_codes(std::span<const double> weights, std::size_t max_bins);

/// A cell of a sparse feature whose bin is not that of zero.
struct SparseBin {
    std::uint16_t place;
    std::uint8_t bin;
};

/// Sparse features that are read together, row by row.
struct SparseGroup {
    std::vector<std::int32_t> features;
    std::vector<std::uint32_t> indptr;  // per row + 1
    std::vector<SparseBin> cells;       // by row, then place
};

struct BinnedData {
    std::size_t n_rows = 0;
    std::vector<BinnedFeature> features;
    std::vector<SparseGroup> groups;

    /// Bins hold about equal weights of the rows in `rows`; all rows are put into bins. A few
    /// columns are converted at a time: the ranks of all would take several times as much memory.
    /// `weight`: of all rows.
    template <typename View>
    static BinnedData from(View X, Conversion conversion, std::span<const std::uint32_t> rows,
                           std::span<const float> weight, std::size_t max_bins,
                           StopSignal& signal);

    std::uint8_t bin(std::size_t feature, std::size_t row) const;
};

}  // namespace ramify
