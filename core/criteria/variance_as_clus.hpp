// Sums over categories in the order in which CLUS adds them up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "criteria/node_labels.hpp"
#include "criteria/scan.hpp"

namespace ramify {

/// Categories that divide a node alike differ in rounding only, and CLUS takes a later one if its
/// gain comes out larger: sums run in the order of the labels, which must not be compressed.
class VarianceAsClus {
  public:
    /// A new feature of a node.
    void begin(const NodeLabels& labels, std::span<const double> weights, std::size_t n_categories,
               std::span<const std::uint32_t> missing);
    void add(std::span<const CategoryEntry> entries);
    /// Sum of w S^2 over the labels of a category.
    double square(std::size_t category) const;
    /// The gain per label if a category joins the left side, which then has this weight.
    /// `n_labels`: all of the data, even if no entry has them.
    double score_with(std::size_t category, double left_weight, double known_weight,
                      std::size_t n_labels) const;
    void take(std::size_t category);

    // Per label, over the entries with a known value, and one row of the same per category.
    std::vector<double> known;
    std::vector<double> sums;

  private:
    const double* row(std::size_t category) const {
        return sums.data() + category * labels_->n_local();
    }

    const NodeLabels* labels_ = nullptr;
    std::span<const double> weights_;
    std::vector<double> left_;  // per label
};

}  // namespace ramify
