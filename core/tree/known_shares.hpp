// What nodes predict if some labels are not known for some rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/label_sums.hpp"
#include "data/targets.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Estimates the share of the rows of a node that have a label, from those that know it.
///
/// Rows without a label are known to lack its descendants, whereas a row that has it may not know
/// them: the share among the rows that know a label would be too small. The estimate is a product
///   p_c = p_parent * S_c / (weight of the rows that know c and have the parent),
/// where a row that does not know the parent has it with probability p_parent. It does not exceed
/// that of the parent, and is S_c / W if everything is known. With several parents it is the
/// smallest of the products.
class KnownShares {
  public:
    explicit KnownShares(const Targets& targets);
    /// `sums` of the labels that the rows have. NaN stands for a label of which the rows that have
    /// a parent know nothing.
    void compute(const NodeRows& rows, double weight, std::span<const LabelSum> sums);
    std::span<const std::int32_t> labels() const { return labels_; }
    std::span<const double> values() const { return values_; }

  private:
    void add_pattern(std::uint32_t pattern, double weight);
    double share_of(std::size_t label, double weight);

    const Targets& targets_;
    const UnknownLabels& unknown_;
    // Per label, zero outside of compute(): the weight that has it, that does not know it, its
    // share, and whether all is known of it and of its ancestors.
    std::vector<double> sum_;
    std::vector<double> unknown_sum_;
    std::vector<double> share_;
    std::vector<double> both_unknown_;     // per pair of a label and a parent
    std::vector<std::uint32_t> seen_in_;   // per label: the last pattern that has it
    std::vector<double> pattern_weight_;   // per pattern, zero outside of compute()
    std::vector<std::uint32_t> patterns_;  // of the node
    std::vector<std::int32_t> touched_;    // labels that rows have or do not know
    std::vector<std::int32_t> labels_;
    std::vector<double> values_;
};

/// Replaces each NaN by the estimate from the parent's share and the ratio of the two in the node
/// above, and drops zeros. `tree` must carry values in its inner nodes, and keeps them.
Tree inherit_shares(const Tree& tree, const UnknownLabels& unknown, std::size_t n_labels);

}  // namespace ramify
