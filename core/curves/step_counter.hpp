// What the curves of dense and sparse scores share: counting cells at the scores of positives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/sparse_rows.hpp"
#include "curves/curves.hpp"
#include "curves/key_index.hpp"

namespace ramify {

inline std::vector<double> distinct(std::vector<double> scores) {
    std::sort(scores.begin(), scores.end());
    scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
    return scores;
}

inline std::vector<char> membership(std::span<const std::int32_t> labels, std::size_t n_labels) {
    std::vector<char> chosen(n_labels, 0);
    for (const std::int32_t label : labels) chosen[static_cast<std::size_t>(label)] = 1;
    return chosen;
}

/// The weight of a whole without a part; with fractional weights, rounding may leave a tiny
/// remainder instead of 0, and areas are divided by it.
inline double remainder(double whole, double part) {
    const double rest = whole - part;
    return rest > 1e-12 * whole ? rest : 0.0;
}

/// Counts the cells at and between the distinct scores of the positives.
class StepCounter {
  public:
    explicit StepCounter(std::vector<double>&& positive_scores)
        : keys_(distinct(std::move(positive_scores))),
          cells_(2 * keys_.size() + 1, 0.0),
          positives_(keys_.size(), 0.0) {}

    /// Slot 2k + 1 counts scores equal to key k, slot 2k those between key k - 1 and key k.
    void add_cell(double score, double weight) {
        const std::size_t k = keys_.lower_bound(score);
        cells_[2 * k + (keys_[k] == score ? 1 : 0)] += weight;
    }
    void add_positive(double score, double weight) {
        positives_[keys_.lower_bound(score)] += weight;
    }

    CurveSteps steps(double total) const {
        CurveSteps result;
        for (std::size_t k = keys_.size(); k-- > 0;) {
            result.score.push_back(keys_[k]);
            result.positives.push_back(positives_[k]);
            result.negatives_above.push_back(cells_[2 * k + 2]);
            result.negatives.push_back(remainder(cells_[2 * k + 1], positives_[k]));
            result.n_positive += positives_[k];
        }
        result.n_negative = remainder(total, result.n_positive);
        return result;
    }

  private:
    KeyIndex keys_;
    std::vector<double> cells_;
    std::vector<double> positives_;
};

/// The curve of a ranking without positives has no steps.
inline CurveSteps no_steps(double total) {
    CurveSteps result;
    result.n_negative = total;
    return result;
}

/// The transpose of the truth: the rows that have each label.
inline SparseRows rows_of_labels(SparseRowsView truth, std::size_t n_labels) {
    SparseRows result;
    result.indptr.assign(n_labels + 1, 0);
    for (const std::int32_t label : truth.indices)
        ++result.indptr[static_cast<std::size_t>(label) + 1];
    for (std::size_t l = 0; l < n_labels; ++l) result.indptr[l + 1] += result.indptr[l];
    result.indices.resize(truth.indices.size());
    auto next = result.indptr;
    for (std::size_t r = 0; r < truth.n_rows(); ++r) {
        for (const std::int32_t label : truth.row(r)) {
            const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(label)]++);
            result.indices[at] = static_cast<std::int32_t>(r);
        }
    }
    return result;
}

/// Appends the areas and the weight of the positives of a label.
inline void append_areas(const CurveSteps& steps, Interpolation interpolation, LabelAreas& areas) {
    const StepsView borrowed{steps.positives, steps.negatives_above, steps.negatives,
                             steps.n_positive, steps.n_negative};
    areas.precision_recall.push_back(precision_recall_area(borrowed, interpolation));
    areas.roc.push_back(roc_area(borrowed));
    areas.n_positive.push_back(steps.n_positive);
}

}  // namespace ramify
