// The sums of VarianceScan from the labels of the entries of a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "criteria/label_moves.hpp"
#include "criteria/node_labels.hpp"
#include "criteria/scan.hpp"
#include "criteria/variance_gain.hpp"

namespace ramify {

class VarianceByLabels {
  public:
    /// A new node.
    void reset(const NodeLabels& labels, std::span<const double> weights);
    /// A new feature; returns the sums over the entries whose value is not missing.
    VarianceMass begin(std::span<const std::uint32_t> missing);
    /// Moves can follow, of which there are none yet.
    void begin_moves() { moves_.begin(any_missing_ ? missing_.data() : nullptr); }
    /// Sums over the missing values of the current feature.
    const VarianceMissing& missing() const { return missing_sums_; }
    /// Moves one entry and writes what it adds to Q1 and X.
    void move(std::uint32_t entry, double* square, double* cross);
    /// Moves items in order while enough is left, writes the sums after each of them, and returns
    /// how many have moved. sums.met is written where values are missing.
    std::size_t move(std::span<const RankedEntry> items, double known_weight,
                     const SweepLimits& limits, PrefixSums& sums);

    /// Sum over the known entries of v times their product with this one.
    double cross(std::uint32_t entry) const;
    /// Adds the products of all pairs of categories, sums over pairs of their entries.
    void add_products(std::span<const CategoryEntry> entries, std::size_t n_categories,
                      std::vector<double>& products);

  private:
    void forget_sums(std::span<const CategoryEntry> entries, std::size_t n_seen,
                     std::size_t stride);

    const NodeLabels* labels_ = nullptr;
    std::span<const double> weights_;
    LabelMoves moves_;
    std::vector<double> missing_;  // per label: w_c S_c over the entries with a missing value
    VarianceMissing missing_sums_;
    bool any_missing_ = false;
    std::vector<double> category_sums_;  // one row per label: S_c of each category
    std::vector<double> label_weight_;   // per label and filler
    bool weights_listed_ = false;        // label_weight_, of the current node
    std::vector<double> met_;            // per pair of categories: entries times those before them
};

}  // namespace ramify
