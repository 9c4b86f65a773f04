// Precision-recall and ROC curves of a matrix of scores and sparse true labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "common/sparse_rows.hpp"
#include "data/matrix.hpp"

namespace ramify {

/// Finite scores and true labels of the same shape. The labels of a row increase. If row_weight is
/// empty, every row has weight 1.
template <typename Scores>
struct RankingOf {
    Scores scores;
    SparseRowsView truth;
    std::span<const double> row_weight;

    double weight(std::size_t r) const { return row_weight.empty() ? 1.0 : row_weight[r]; }
    double total_weight() const {
        if (row_weight.empty()) return static_cast<double>(truth.n_rows());
        double total = 0.0;
        for (const double weight : row_weight) total += weight;
        return total;
    }
};

using RankingView = RankingOf<MatrixView<double>>;
using SparseRankingView = RankingOf<CsrView>;

/// A curve reduced to the steps where recall increases: step k is the k-th largest distinct score
/// of a positive cell. For negative cells, only the numbers that tie with a step or lie strictly
/// between two steps matter, so only the positives need to be sorted.
struct CurveSteps {
    std::vector<double> score;            // decreasing
    std::vector<double> positives;        // weight of the positives with this score
    std::vector<double> negatives_above;  // strictly between this step and the previous one
    std::vector<double> negatives;        // tied with the positives of this step
    double n_positive = 0.0;
    double n_negative = 0.0;
};

/// The parts of a curve that determine its areas, borrowed.
struct StepsView {
    std::span<const double> positives;
    std::span<const double> negatives_above;
    std::span<const double> negatives;
    double n_positive;
    double n_negative;
};

/// How precision is interpolated between two consecutive points of a curve.
enum class Interpolation {
    davis_goadrich,  // one point per whole positive, false positives linear in true positives
    continuous,      // the same in the limit of many points, integrated in closed form
    linear,          // a straight line between precisions (optimistic)
    step,            // the precision of the right-hand point: average precision
};

/// Whether all scores of the given labels are finite.
bool all_finite(const RankingView& ranking, std::span<const std::int32_t> labels,
                StopSignal& signal);

/// The curve over all cells (row, label) of the given labels, pooled into one ranking.
CurveSteps pooled_steps(const RankingView& ranking, std::span<const std::int32_t> labels,
                        StopSignal& signal);
CurveSteps pooled_steps(const SparseRankingView& ranking, std::span<const std::int32_t> labels,
                        StopSignal& signal);

/// The area under the precision-recall curve; NaN if there are no positives. The first point is
/// extended horizontally to recall 0; for `step` this makes no difference.
double precision_recall_area(const StepsView& steps, Interpolation interpolation);

/// The area under the ROC curve, with ties counted half; 0.5 if there are no positives or no
/// negatives.
double roc_area(const StepsView& steps);

/// Areas and weights of positives, one for each of the given labels.
struct LabelAreas {
    std::vector<double> precision_recall;
    std::vector<double> roc;
    std::vector<double> n_positive;
};

LabelAreas label_areas(const RankingView& ranking, std::span<const std::int32_t> labels,
                       Interpolation interpolation, StopSignal& signal);
LabelAreas label_areas(const SparseRankingView& ranking, std::span<const std::int32_t> labels,
                       Interpolation interpolation, StopSignal& signal);

}  // namespace ramify
