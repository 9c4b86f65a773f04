// The variance of the features, and its sum with that of the labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "criteria/known_variance.hpp"
#include "criteria/scan.hpp"
#include "data/feature_targets.hpp"

namespace ramify {

/// Sum_j (sum v x^2 - S_j^2 / W_j) over columns j, where W_j is the weight of the rows that have a
/// value. Columns of which all rows have one share W, and their sums Q = sum S'^2 and X = sum S S'
/// change at the cost of the cells of an entry; any other costs a division per gain.
class FeatureVarianceScan : public ScanBase {
  public:
    static constexpr Compression compression{};
    static constexpr bool uses_kernel = false;
    static constexpr bool uses_labels = false;
    static constexpr bool one_class = false;
    static constexpr bool sweeps_both = false;

    explicit FeatureVarianceScan(const Targets& targets);

    void reset(const NodeRows& rows, const NodeLabels& labels = {});
    void begin(std::span<const std::uint32_t> missing);
    SquaredSums squares_of(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const;
    template <typename Worth, typename Visit>
    void sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
               const SweepLimits& limits, Worth&&, Visit&& visit) {
        sweep_items(items, next_rank, limits, *this, visit);
    }
    double known_impurity() const { return known_impurity_; }

    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    void complete(std::size_t value);
    double gain_with(std::size_t value) const;
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const;

  private:
    // Sums over entries: of each column; of each column that is not complete, the weight of the
    // missing values; last, of all squares.
    std::size_t n_gappy() const { return features_.n_columns - features_.n_complete; }
    std::size_t width() const { return features_.n_columns + n_gappy() + 1; }
    void add_to(double* sums, std::uint32_t entry) const;
    double part(double square, double weight) const {
        return weight > noise_ ? square / weight : 0;
    }
    /// Sum_j S_j^2 / W_j.
    double squares(const double* sums, double weight) const;
    double squares_of_gappy(const double* sums, double weight) const;
    /// The same of the known entries without these.
    double squares_of_rest(const double* sums, double weight) const;
    double gain_of(const double* left, double weight) const;

    const FeatureTargets& features_;
    std::span<const std::uint32_t> row_;  // per entry
    double noise_ = 0;                    // known weight that is as good as none
    double weight_ = 0;                   // of all entries
    std::vector<double> node_;
    std::vector<double> known_;  // of entries with a value of the feature that is searched
    std::vector<double> left_;
    mutable std::vector<double> scratch_;
    std::vector<double> value_sums_;  // one row per category
    double known_impurity_ = 0;
    double known_squares_ = 0;
    // Q of the known entries, and Q and X of the left side, all of complete columns.
    double known_square_ = 0;
    double left_square_ = 0;
    double left_cross_ = 0;
};

/// The variance of the labels, over the rows that know them, and that of the features, both times
/// weights that are part of them. A node is pure if its labels are, as further tests would not
/// change what it predicts, or if too few of its rows have labels.
///
/// Under CLUS's rules, a side without labels keeps the variance of the node's labels, for as much
/// of their weight as it has of all rows.
class MixedVarianceScan : public ScanBase {
  public:
    static constexpr Compression compression{};
    static constexpr bool uses_kernel = false;
    static constexpr bool uses_labels = false;
    static constexpr bool one_class = false;
    static constexpr bool sweeps_both = false;

    explicit MixedVarianceScan(const Targets& targets)
        : targets_(targets), labels_(targets), features_(targets) {}

    void reset(const NodeRows& rows, const NodeLabels& labels = {});
    void begin(std::span<const std::uint32_t> missing);
    SquaredSums squares_of(std::span<const std::uint32_t> missing);
    void move(std::uint32_t entry);
    double gain() const {
        return labels_.gain() + features_.gain() - kept(left_labelled_, left_weight_);
    }
    template <typename Worth, typename Visit>
    void sweep(std::span<const RankedEntry> items, std::uint32_t next_rank,
               const SweepLimits& limits, Worth&&, Visit&& visit) {
        sweep_items(items, next_rank, limits, *this, visit);
    }
    double known_impurity() const {
        return pure_ ? 0 : labels_.known_impurity() + features_.known_impurity();
    }

    void begin_values(std::size_t n_values, std::span<const std::uint32_t> missing);
    void add(std::size_t value, std::uint32_t entry);
    void complete(std::size_t value);
    double gain_with(std::size_t value) const {
        return labels_.gain_with(value) + features_.gain_with(value) -
               kept(left_labelled_ + value_labelled_[value], left_weight_ + value_weight_[value]);
    }
    void take(std::size_t value);
    double gain_of_all(std::span<const std::uint32_t> values) const {
        return labels_.gain_of_all(values) + features_.gain_of_all(values);
    }

  private:
    bool has_labels(std::uint32_t entry) const;
    double labelled_weight(std::uint32_t entry) const {
        return clus_ && has_labels(entry) ? weights_[entry] : 0;
    }
    /// What a side without labels keeps of the labels' impurity, as in CLUS.
    double kept(double labelled, double weight) const;
    void begin_sides(std::span<const std::uint32_t> missing);

    const Targets& targets_;
    KnownVarianceScan labels_;
    FeatureVarianceScan features_;
    std::span<const std::uint32_t> row_;  // per entry
    bool pure_ = false;
    // Weight of rows with labels, if CLUS's rules apply.
    double labelled_ = 0;
    double known_labelled_ = 0;
    double left_labelled_ = 0;
    std::vector<double> value_labelled_;  // per category
};

static_assert(Scan<FeatureVarianceScan> && Scan<MixedVarianceScan>);

}  // namespace ramify
