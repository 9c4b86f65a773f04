// AdaBoost.MH and H-Ada.MH: weights of rows and labels, moved round by round.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "adaboost/search.hpp"

namespace ramify {

/// The labels of all rows, sparse, and the parents of each label; parents have smaller numbers.
struct BoostingLabels {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::vector<std::vector<std::uint32_t>> parents;
};

struct BoostingOptions {
    std::size_t depth = 1;
    std::size_t n_steps = 0;        // of a grid of thresholds; 0: every threshold
    bool shared = false;            // one tree for all labels
    bool top_down = false;          // a vote below a negative one is negative
    bool inherit_mistakes = false;  // a vote below a wrong one counts as wrong
    bool relax = false;             // neither in rounds where both make r 0 or less
    unsigned n_threads = 1;
};

class Booster {
  public:
    /// The weight of a row and label is row_weight * label_weight, scaled to sum to 1.
    Booster(const Dataset& dataset, const BoostingLabels& labels,
            std::span<const double> row_weight, std::span<const double> label_weight,
            const BoostingOptions& options);

    /// Finds a weak hypothesis for the present weights.
    WeakHypothesis learn(const std::function<bool()>& interrupted);
    /// Its edge r: the weight of right votes less that of wrong ones, over all weights.
    double edge() const { return edge_; }
    /// Whether votes were corrected from the top down and mistakes inherited, where that is
    /// wanted.
    bool corrected() const { return corrected_; }
    /// Multiplies the weight of right votes by exp(-a) / Z and of wrong ones by exp(a) / Z, with
    /// a = ln((1 + r) / (1 - r)) / 2 and Z such that their sum stays: by 1 / (1 + r), 1 / (1 - r).
    void reweigh();

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_labels() const { return layout_.n_labels(); }
    double weight(std::size_t row, std::size_t label) const;

  private:
    template <typename Work>
    void for_rows(StopSignal& signal, Work work);
    void judge_votes(std::size_t begin, std::size_t end, bool corrected);
    double measure_edge(StopSignal& signal, bool corrected);

    std::vector<BoostingColumn> columns_;
    LabelLayout layout_;
    BoostingOptions options_;
    std::size_t n_rows_;
    LabelBlocks cells_;               // weight, with a minus sign where the row lacks the label
    std::vector<std::int8_t> votes_;  // +1 and -1
    std::vector<std::int8_t> kept_;   // votes before they were corrected, if they may be needed
    std::vector<std::int8_t> right_;  // +1 where the vote is right, -1 where it is wrong
    double edge_ = 0;
    bool corrected_ = true;
};

}  // namespace ramify
