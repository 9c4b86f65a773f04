#include "gradient_boosting/binning.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "growing/split.hpp"

namespace ramify {

namespace {

constexpr std::size_t features_per_group = 256;
// A sparse cell takes four bytes, a dense one takes one.
constexpr std::size_t dense_if_one_in = 4;
// Cells below which threads are not worth starting.
constexpr std::size_t min_binned_cells = 1'000'000;
constexpr double smallest_weight = std::numeric_limits<float>::denorm_min();

unsigned threads_for(std::size_t n_rows, std::size_t n_columns, unsigned n_threads) {
    return n_rows * n_columns < min_binned_cells ? 1U : n_threads;
}

/// The rows from which bins are found.
class WeighedRows {
  public:
    WeighedRows(std::span<const std::uint32_t> rows, std::span<const float> weight) : rows_(rows) {
        // Rows of equal weight are counted: these sums are exact.
        const bool equal = std::ranges::all_of(
            rows, [&](auto row) { return weight[row] == weight[rows.front()]; });
        if (!equal) weight_ = weight;
        for (const auto row : rows) {
            n_heavy_ += weight_of(row) > 0;
            total_ += weight_of(row);
        }
    }

    /// The sum of the weights of the rows with each rank.
    std::vector<double> of_ranks(const Feature& feature) const {
        std::vector<double> sums(feature.values.size(), 0.0);
        if (!feature.ranks.empty()) {
            for (const auto row : rows_) {
                if (feature.ranks[row] != missing_rank) sums[feature.ranks[row]] += weight_of(row);
            }
            return sums;
        }
        auto n_zero = n_heavy_;
        double zeros = total_;
        const auto leave_out = [&](std::uint32_t row) {
            n_zero -= weight_of(row) > 0;
            zeros -= weight_of(row);
        };
        std::vector<std::uint32_t> missing;
        std::ranges::set_intersection(rows_, feature.missing_rows, std::back_inserter(missing));
        std::ranges::for_each(missing, leave_out);
        auto cell = feature.stored_by_row.begin();
        for (const auto row : rows_) {
            while (cell != feature.stored_by_row.end() && cell->row < row) ++cell;
            if (cell == feature.stored_by_row.end()) break;
            if (cell->row == row) {
                sums[cell->rank] += weight_of(row);
                leave_out(row);
            }
        }
        // Differences of weights that are not whole may be rounded.
        if (n_zero > 0) sums[feature.zero_rank] = std::max(zeros, smallest_weight);
        return sums;
    }

    /// The sum of the weights of the rows with each code.
    std::vector<double> of_codes(const Feature& feature) const {
        std::vector<double> sums(static_cast<std::size_t>(feature.n_categories), 0.0);
        for (const auto row : rows_) {
            const auto code = feature.codes[row];
            if (code >= 0) sums[static_cast<std::size_t>(code)] += weight_of(row);
        }
        return sums;
    }

  private:
    double weight_of(std::uint32_t row) const {
        return weight_.empty() ? 1.0 : static_cast<double>(weight_[row]);
    }

    std::span<const std::uint32_t> rows_;
    std::span<const float> weight_;  // empty if all are equal
    std::size_t n_heavy_ = 0;        // rows with a positive weight
    double total_ = 0;
};

std::vector<std::uint8_t> bins_of_ranks(const Feature& feature,
                                        const std::vector<double>& threshold) {
    std::vector<std::uint8_t> bins(feature.values.size());
    std::size_t bin = 0;
    for (std::size_t r = 0; r < bins.size(); ++r) {
        while (bin < threshold.size() && !(feature.values[r] > threshold[bin])) ++bin;
        bins[r] = static_cast<std::uint8_t>(bin);
    }
    return bins;
}

/// A cell of a sparse feature whose bin is not that of zero.
struct Cell {
    std::uint32_t row;
    std::uint8_t bin;
};

/// A feature in bins. The cells of a sparse one are yet to be put into a group.
struct Binned {
    BinnedFeature feature;
    bool sparse = false;
    std::vector<Cell> cells;  // sparse
};

/// Puts features into bins, each on its own: several threads may share it.
class Binner {
  public:
    Binner(std::size_t n_rows, WeighedRows rows, std::size_t max_bins)
        : n_rows_(n_rows), rows_(rows), max_bins_(max_bins) {}

    Binned bin(const Feature& feature) const {
        Binned binned;
        if (feature.kind == FeatureKind::nominal) {
            fill_nominal(feature, binned.feature);
        } else {
            fill_numeric(feature, binned);
        }
        return binned;
    }

  private:
    void fill_nominal(const Feature& feature, BinnedFeature& binned) const {
        binned = bin_codes(rows_.of_codes(feature), max_bins_);
        binned.bins.resize(n_rows_);
        for (std::size_t row = 0; row < n_rows_; ++row) {
            const auto code = feature.codes[row];
            binned.bins[row] =
                code < 0 ? binned.n_bins : binned.bin_of_code[static_cast<std::size_t>(code)];
        }
    }

    void fill_numeric(const Feature& feature, Binned& binned) const {
        auto& made = binned.feature;
        const auto weights = rows_.of_ranks(feature);
        for (const auto& cut : find_cuts(weights, max_bins_)) {
            made.threshold.push_back(
                threshold_between(feature.values[cut.above], feature.values[cut.below], true));
        }
        const bool any = std::ranges::any_of(weights, [](double weight) { return weight > 0; });
        made.n_bins = static_cast<std::uint8_t>(any ? made.threshold.size() + 1 : 0);
        const auto bins = bins_of_ranks(feature, made.threshold);
        binned.sparse =
            feature.kind == FeatureKind::sparse && made.n_bins > 0 &&
            dense_if_one_in * (feature.stored.size() + feature.missing_rows.size()) < n_rows_;
        if (binned.sparse) {
            list_cells(feature, bins, binned);
        } else {
            fill_dense(feature, bins, made);
        }
    }

    void fill_dense(const Feature& feature, const std::vector<std::uint8_t>& bins,
                    BinnedFeature& binned) const {
        if (feature.ranks.empty()) {
            const bool has_zero = feature.zero_rank < bins.size();
            binned.bins.assign(n_rows_, has_zero ? bins[feature.zero_rank] : std::uint8_t{0});
            for (const auto& cell : feature.stored) binned.bins[cell.row] = bins[cell.rank];
            for (const auto row : feature.missing_rows) binned.bins[row] = binned.n_bins;
            return;
        }
        binned.bins.resize(n_rows_);
        for (std::size_t row = 0; row < n_rows_; ++row) {
            const auto rank = feature.ranks[row];
            binned.bins[row] = rank == missing_rank ? binned.n_bins : bins[rank];
        }
    }

    static void list_cells(const Feature& feature, const std::vector<std::uint8_t>& bins,
                           Binned& binned) {
        binned.feature.zero_bin = bins[feature.zero_rank];
        for (const auto& cell : feature.stored_by_row) {
            if (bins[cell.rank] != binned.feature.zero_bin) {
                binned.cells.push_back({cell.row, bins[cell.rank]});
            }
        }
        for (const auto row : feature.missing_rows) {
            binned.cells.push_back({row, binned.feature.n_bins});
        }
    }

    std::size_t n_rows_;
    WeighedRows rows_;
    std::size_t max_bins_;
};

/// The cells of some sparse features, by row; their lists are emptied.
SparseGroup make_group(std::vector<std::int32_t> members, std::vector<Binned>& binned,
                       std::size_t n_rows) {
    SparseGroup group;
    group.features = std::move(members);
    group.indptr.assign(n_rows + 1, 0);
    for (const auto f : group.features) {
        for (const auto& cell : binned[static_cast<std::size_t>(f)].cells) {
            ++group.indptr[cell.row + 1];
        }
    }
    std::partial_sum(group.indptr.begin(), group.indptr.end(), group.indptr.begin());
    group.cells.resize(group.indptr.back());
    std::vector<std::uint32_t> next(group.indptr.begin(), group.indptr.end() - 1);
    // Cells are added place by place, so those of a row are in that order.
    for (std::size_t place = 0; place < group.features.size(); ++place) {
        auto& cells = binned[static_cast<std::size_t>(group.features[place])].cells;
        for (const auto& cell : cells) {
            group.cells[next[cell.row]++] = {static_cast<std::uint16_t>(place), cell.bin};
        }
        cells = {};
    }
    return group;
}

/// Divides the sparse features into groups, and hands everything over.
BinnedData collect(std::vector<Binned> binned, std::size_t n_rows, unsigned n_threads,
                   StopSignal& signal) {
    BinnedData data;
    data.n_rows = n_rows;
    std::vector<std::vector<std::int32_t>> members;
    for (std::size_t f = 0; f < binned.size(); ++f) {
        if (!binned[f].sparse) continue;
        if (members.empty() || members.back().size() == features_per_group) members.emplace_back();
        binned[f].feature.group = static_cast<std::int32_t>(members.size() - 1);
        binned[f].feature.place = static_cast<std::uint32_t>(members.back().size());
        members.back().push_back(static_cast<std::int32_t>(f));
    }
    data.groups.resize(members.size());
    parallel_for(n_threads, members.size(), signal, [&](unsigned, std::size_t g) {
        signal.check();
        data.groups[g] = make_group(std::move(members[g]), binned, n_rows);
    });
    data.features.reserve(binned.size());
    for (auto& made : binned) data.features.push_back(std::move(made.feature));
    return data;
}

}  // namespace

std::vector<Cut> find_cuts(std::span<const double> weights, std::size_t max_bins) {
    std::vector<std::size_t> ranks;
    for (std::size_t r = 0; r < weights.size(); ++r) {
        if (weights[r] > 0) ranks.push_back(r);
    }
    std::vector<Cut> cuts;
    const bool all = ranks.size() <= max_bins;
    double left = std::accumulate(weights.begin(), weights.end(), 0.0);
    double in_bin = 0;
    for (std::size_t i = 0; i + 1 < ranks.size(); ++i) {
        in_bin += weights[ranks[i]];
        const auto bins_left = static_cast<double>(max_bins - cuts.size());
        if (bins_left == 1) break;
        const double next = weights[ranks[i + 1]];
        const bool full = in_bin * bins_left >= left;
        const bool next_is_full = next * (bins_left - 1) >= left - in_bin && next > in_bin;
        if (all || full || next_is_full) {
            cuts.push_back({ranks[i], ranks[i + 1]});
            left -= in_bin;
            in_bin = 0;
        }
    }
    return cuts;
}

BinnedFeature bin_codes(std::span<const double> weights, std::size_t max_bins) {
    BinnedFeature binned;
    binned.nominal = true;
    const auto n_codes = weights.size();
    std::vector<std::size_t> order(n_codes);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t c) { return weights[c]; });
    std::size_t n_seen = 0;
    while (n_seen < n_codes && weights[order[n_seen]] > 0) ++n_seen;
    const auto n_bins = std::min(n_seen, max_bins);
    binned.n_bins = static_cast<std::uint8_t>(n_bins);
    // Categories without weight are treated as missing values.
    binned.bin_of_code.assign(n_codes, binned.n_bins);
    for (std::size_t i = 0; i < n_seen; ++i) {
        binned.bin_of_code[order[i]] = static_cast<std::uint8_t>(std::min(i, n_bins - 1));
    }
    return binned;
}

template <typename View>
BinnedData BinnedData::from(View X, Conversion conversion, std::span<const std::uint32_t> rows,
                            std::span<const float> weight, std::size_t max_bins,
                            StopSignal& signal) {
    const std::size_t n_columns = conversion.n_categories.size();
    conversion.n_threads = threads_for(X.n_rows, n_columns, conversion.n_threads);
    const Binner binner(X.n_rows, WeighedRows(rows, weight), max_bins);
    std::vector<Binned> binned(n_columns);
    convert_columns(X, conversion, signal, [&](std::size_t column, const Feature& feature) {
        binned[column] = binner.bin(feature);
    });
    return collect(std::move(binned), X.n_rows, conversion.n_threads, signal);
}

template BinnedData BinnedData::from(MatrixView<float>, Conversion, std::span<const std::uint32_t>,
                                     std::span<const float>, std::size_t, StopSignal&);
template BinnedData BinnedData::from(MatrixView<double>, Conversion,
                                     std::span<const std::uint32_t>, std::span<const float>,
                                     std::size_t, StopSignal&);
template BinnedData BinnedData::from(CscView, Conversion, std::span<const std::uint32_t>,
                                     std::span<const float>, std::size_t, StopSignal&);

std::uint8_t BinnedData::bin(std::size_t feature, std::size_t row) const {
    const auto& binned = features[feature];
    if (!binned.is_sparse()) return binned.bins[row];
    const auto& group = groups[static_cast<std::size_t>(binned.group)];
    const auto first = group.cells.begin() + group.indptr[row];
    const auto last = group.cells.begin() + group.indptr[row + 1];
    const auto found = std::lower_bound(
        first, last, binned.place,
        [](const SparseBin& cell, std::uint32_t place) { return cell.place < place; });
    return found != last && found->place == binned.place ? found->bin : binned.zero_bin;
}

}  // namespace ramify
