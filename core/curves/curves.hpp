// Precision-recall and ROC curves of score matrices against sparse truth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hierarchy/closure.hpp"

namespace ramify {

/// A borrowed dense matrix of finite scores with any strides (counted in elements).
struct ScoresView {
    const double* data;
    std::size_t n_rows;
    std::size_t n_labels;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t label_stride;

    double operator()(std::size_t r, std::size_t label) const {
        return data[static_cast<std::ptrdiff_t>(r) * row_stride +
                    static_cast<std::ptrdiff_t>(label) * label_stride];
    }
};

/// Scores and truth of the same shape. Truth rows hold no repeats. An empty weight span means
/// that every row weighs 1.
struct RankingView {
    ScoresView scores;
    SparseRowsView truth;
    std::span<const double> row_weight;

    double weight(std::size_t r) const { return row_weight.empty() ? 1.0 : row_weight[r]; }
};

/// A curve reduced to the steps where recall grows: step k is the k-th largest distinct score
/// of a positive cell. Negative cells matter only through how many tie with a step and how many
/// lie strictly between two steps, so nothing but the positives is ever sorted.
struct CurveSteps {
    std::vector<double> score;            // decreasing
    std::vector<double> positives;        // weight of the positives with exactly this score
    std::vector<double> negatives_above;  // strictly above this step and below the step before
    std::vector<double> negatives;        // tied with the positives of this step
    double n_positive = 0.0;
    double n_negative = 0.0;
};

/// What the areas need of a curve, borrowed.
struct StepsView {
    std::span<const double> positives;
    std::span<const double> negatives_above;
    std::span<const double> negatives;
    double n_positive;
    double n_negative;
};

/// How precision runs between two neighbouring points of a curve.
enum class Interpolation {
    davis_goadrich,  // one point per whole positive, false positives linear in true positives
    continuous,      // the limit of the same line: integrated in closed form
    linear,          // straight line between precisions (optimistic)
    step,            // precision of the right-hand point: average precision
};

/// True when every score of the given labels is a number that can be ranked.
bool all_finite(const RankingView& ranking, std::span<const std::int32_t> labels);

/// The curve over all cells (row, label) of the given labels, as one ranking.
CurveSteps pooled_steps(const RankingView& ranking, std::span<const std::int32_t> labels);

/// Area under the precision-recall curve; NaN without positives. The first point is extended
/// horizontally to recall 0, except for `step`, where that makes no difference.
double precision_recall_area(const StepsView& steps, Interpolation interpolation);

/// Area under the ROC curve, ties counted half; 0.5 without positives or without negatives.
double roc_area(const StepsView& steps);

/// One entry for each of the given labels.
struct LabelAreas {
    std::vector<double> precision_recall;
    std::vector<double> roc;
    std::vector<double> n_positive;
};

LabelAreas label_areas(const RankingView& ranking, std::span<const std::int32_t> labels,
                       Interpolation interpolation);

}  // namespace ramify
