#include "gradient_boosting/binning.hpp"

#include <algorithm>
#include <numeric>

#include "growing/split.hpp"

namespace ramify {

namespace {

constexpr std::size_t features_per_group = 256;
// A sparse cell takes four bytes, a dense one takes one.
constexpr std::size_t dense_if_one_in = 4;

/// How many of the chosen rows have each rank.
std::vector<std::uint32_t> count_ranks(const Feature& feature,
                                       std::span<const std::uint32_t> rows) {
    std::vector<std::uint32_t> counts(feature.values.size(), 0);
    if (!feature.ranks.empty()) {
        for (const auto row : rows) {
            if (feature.ranks[row] != missing_rank) ++counts[feature.ranks[row]];
        }
        return counts;
    }
    std::vector<std::uint32_t> chosen;
    std::size_t n_zero = rows.size();
    std::ranges::set_intersection(rows, feature.missing_rows, std::back_inserter(chosen));
    n_zero -= chosen.size();
    auto cell = feature.stored_by_row.begin();
    for (const auto row : rows) {
        while (cell != feature.stored_by_row.end() && cell->row < row) ++cell;
        if (cell == feature.stored_by_row.end()) break;
        if (cell->row == row) {
            ++counts[cell->rank];
            --n_zero;
        }
    }
    if (n_zero > 0) counts[feature.zero_rank] = static_cast<std::uint32_t>(n_zero);
    return counts;
}

/// The last rank of each bin but the last, and the first rank of the next bin that occurs.
struct Cut {
    std::size_t above;
    std::size_t below;
};

/// Divides ranks into bins of about equal counts; a rank with many rows has a bin of its own.
std::vector<Cut> find_cuts(const std::vector<std::uint32_t>& counts, std::size_t max_bins) {
    std::vector<std::size_t> ranks;
    for (std::size_t r = 0; r < counts.size(); ++r) {
        if (counts[r] > 0) ranks.push_back(r);
    }
    std::vector<Cut> cuts;
    const bool all = ranks.size() <= max_bins;
    auto left = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    std::uint64_t in_bin = 0;
    for (std::size_t i = 0; i + 1 < ranks.size(); ++i) {
        in_bin += counts[ranks[i]];
        const std::uint64_t bins_left = max_bins - cuts.size();
        if (bins_left == 1) break;
        const auto next = counts[ranks[i + 1]];
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

class Binner {
  public:
    Binner(BinnedData& data, std::span<const std::uint32_t> rows, std::size_t max_bins)
        : data_(data), rows_(rows), max_bins_(max_bins) {}

    void add(const Feature& feature) {
        BinnedFeature binned;
        if (feature.kind == FeatureKind::nominal) {
            add_nominal(feature, binned);
        } else {
            add_numeric(feature, binned);
        }
        data_.features.push_back(std::move(binned));
    }

    void finish() { close_group(); }

  private:
    struct Cell {
        std::uint32_t row;
        SparseBin cell;
    };

    void add_nominal(const Feature& feature, BinnedFeature& binned) const {
        binned.nominal = true;
        const auto n_codes = static_cast<std::size_t>(feature.n_categories);
        std::vector<std::uint32_t> counts(n_codes, 0);
        for (const auto row : rows_) {
            if (feature.codes[row] >= 0) ++counts[static_cast<std::size_t>(feature.codes[row])];
        }
        std::vector<std::size_t> order(n_codes);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, std::greater{}, [&](std::size_t c) { return counts[c]; });
        std::size_t n_seen = 0;
        while (n_seen < n_codes && counts[order[n_seen]] > 0) ++n_seen;
        const auto n_bins = std::min(n_seen, max_bins_);
        binned.n_bins = static_cast<std::uint8_t>(n_bins);
        // Categories without a row are treated as missing values.
        binned.bin_of_code.assign(n_codes, binned.n_bins);
        for (std::size_t i = 0; i < n_seen; ++i) {
            binned.bin_of_code[order[i]] = static_cast<std::uint8_t>(std::min(i, n_bins - 1));
        }
        binned.bins.resize(data_.n_rows);
        for (std::size_t row = 0; row < data_.n_rows; ++row) {
            const auto code = feature.codes[row];
            binned.bins[row] =
                code < 0 ? binned.n_bins : binned.bin_of_code[static_cast<std::size_t>(code)];
        }
    }

    void add_numeric(const Feature& feature, BinnedFeature& binned) {
        const auto counts = count_ranks(feature, rows_);
        for (const auto& cut : find_cuts(counts, max_bins_)) {
            binned.threshold.push_back(
                threshold_between(feature.values[cut.above], feature.values[cut.below], true));
        }
        const bool any = std::ranges::any_of(counts, [](auto count) { return count > 0; });
        binned.n_bins = static_cast<std::uint8_t>(any ? binned.threshold.size() + 1 : 0);
        const auto bins = bins_of_ranks(feature, binned.threshold);
        const bool is_sparse =
            feature.kind == FeatureKind::sparse && binned.n_bins > 0 &&
            dense_if_one_in * (feature.stored.size() + feature.missing_rows.size()) < data_.n_rows;
        if (is_sparse) {
            add_sparse(feature, bins, binned);
        } else {
            fill_dense(feature, bins, binned);
        }
    }

    void fill_dense(const Feature& feature, const std::vector<std::uint8_t>& bins,
                    BinnedFeature& binned) const {
        if (feature.ranks.empty()) {
            const bool has_zero = feature.zero_rank < bins.size();
            binned.bins.assign(data_.n_rows, has_zero ? bins[feature.zero_rank] : std::uint8_t{0});
            for (const auto& cell : feature.stored) binned.bins[cell.row] = bins[cell.rank];
            for (const auto row : feature.missing_rows) binned.bins[row] = binned.n_bins;
            return;
        }
        binned.bins.resize(data_.n_rows);
        for (std::size_t row = 0; row < data_.n_rows; ++row) {
            const auto rank = feature.ranks[row];
            binned.bins[row] = rank == missing_rank ? binned.n_bins : bins[rank];
        }
    }

    void add_sparse(const Feature& feature, const std::vector<std::uint8_t>& bins,
                    BinnedFeature& binned) {
        if (members_.size() == features_per_group) close_group();
        binned.group = static_cast<std::int32_t>(data_.groups.size());
        binned.place = static_cast<std::uint32_t>(members_.size());
        binned.zero_bin = bins[feature.zero_rank];
        const auto place = static_cast<std::uint16_t>(members_.size());
        members_.push_back(static_cast<std::int32_t>(data_.features.size()));
        for (const auto& cell : feature.stored_by_row) {
            if (bins[cell.rank] != binned.zero_bin) {
                cells_.push_back({cell.row, {place, bins[cell.rank]}});
            }
        }
        for (const auto row : feature.missing_rows) {
            cells_.push_back({row, {place, binned.n_bins}});
        }
    }

    void close_group() {
        if (members_.empty()) return;
        SparseGroup group;
        group.features = std::move(members_);
        group.indptr.assign(data_.n_rows + 1, 0);
        for (const auto& cell : cells_) ++group.indptr[cell.row + 1];
        std::partial_sum(group.indptr.begin(), group.indptr.end(), group.indptr.begin());
        group.cells.resize(cells_.size());
        std::vector<std::uint32_t> next(group.indptr.begin(), group.indptr.end() - 1);
        // Cells were added place by place, so those of a row stay in that order.
        for (const auto& cell : cells_) group.cells[next[cell.row]++] = cell.cell;
        data_.groups.push_back(std::move(group));
        members_.clear();
        cells_.clear();
    }

    BinnedData& data_;
    std::span<const std::uint32_t> rows_;
    std::size_t max_bins_;
    std::vector<std::int32_t> members_;
    std::vector<Cell> cells_;
};

}  // namespace

BinnedData BinnedData::from(const Dataset& dataset, std::span<const std::uint32_t> rows,
                            std::size_t max_bins) {
    BinnedData data;
    data.n_rows = dataset.n_rows;
    data.features.reserve(dataset.features.size());
    Binner binner(data, rows, max_bins);
    for (const auto& feature : dataset.features) binner.add(feature);
    binner.finish();
    return data;
}

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
