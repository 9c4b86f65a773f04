// AdaBoost.MH and H-Ada.MH: weights of pairs of row and label, updated after every round.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "adaboost/search.hpp"
#include "common/sparse_rows.hpp"

namespace ramify {

/// The labels of all rows in CSR format, and the parents of each label. Parents have smaller
/// numbers than their children.
struct BoostingLabels {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::vector<std::vector<std::uint32_t>> parents;
};

/// Whether the vote for a label is negative where that for a parent is.
enum class TopDown {
    never,
    always,  // Algorithm 1 of H-Ada.MH: after the trees have been found
    best,    // for each label and round the better of two trees: WeakProblem::best_of_two
};

struct BoostingOptions {
    std::size_t depth = 1;
    std::size_t max_bins = 0;  // number of thresholds per feature; 0: all thresholds
    bool shared = false;       // one tree for all labels
    TopDown top_down = TopDown::never;
    bool any_parent = false;        // one positive parent suffices for a positive vote
    bool inherit_mistakes = false;  // a vote below a wrong vote counts as wrong
    /// In rounds where TopDown::always and inherit_mistakes would make r 0 or less, do neither.
    bool relax = false;
    unsigned n_threads = 1;
};

class Booster {
  public:
    /// The initial weight of a row and label is row_weight * label_weight, scaled to sum to 1.
    Booster(const Dataset& dataset, const BoostingLabels& labels,
            std::span<const double> row_weight, std::span<const double> label_weight,
            const BoostingOptions& options);

    /// Sets the weights of labels that are not known to 0, and scales the others to sum to 1. Some
    /// must remain. Not with `inherit_mistakes`: nobody knows which of their votes are wrong.
    void hide(std::span<const std::uint32_t> pattern_of_row, SparseRowsView patterns);

    /// Finds a weak hypothesis for the current weights.
    WeakHypothesis learn(const std::function<bool()>& interrupted);
    /// The edge r of the last hypothesis: the weight of correct votes minus that of wrong votes,
    /// divided by the sum of all weights.
    double edge() const { return edge_; }
    /// Whether the last votes were corrected as TopDown::always and `inherit_mistakes` request.
    bool corrected() const { return corrected_; }
    /// Multiplies the weights of correct votes by exp(-a) / Z and those of wrong votes by exp(a) /
    /// Z, with a = ln((1 + r) / (1 - r)) / 2 and Z such that the sum of the weights does not
    /// change. These factors are 1 / (1 + r) and 1 / (1 - r).
    void reweigh();

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_labels() const { return layout_.n_labels(); }
    double weight(std::size_t row, std::size_t label) const;

  private:
    void learn_trees(StopSignal& signal, WeakHypothesis& found);
    template <typename Work>
    void for_rows(StopSignal& signal, Work work);
    void mark_correct_votes(std::size_t begin, std::size_t end, bool corrected);
    FollowsParents follows() const { return options_.any_parent ? follows_all : follows_each; }
    double measure_edge(StopSignal& signal, bool corrected);

    std::vector<BoostingColumn> columns_;
    LabelLayout layout_;
    BoostingOptions options_;
    std::size_t n_rows_;
    LabelBlocks cells_;  // weights, negated where the row does not have the label
    // For each block and row, the labels of the row, those with a positive vote, and those whose
    // vote is correct.
    std::vector<LabelBits> labels_;
    std::vector<LabelBits> votes_;
    std::vector<LabelBits> uncorrected_votes_;  // only with options_.relax
    std::vector<LabelBits> correct_;
    std::vector<BlockScratch> scratch_;  // per thread
    double edge_ = 0;
    bool corrected_ = true;
};

}  // namespace ramify
