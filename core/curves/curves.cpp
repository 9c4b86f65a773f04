#include "curves/curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "curves/step_counter.hpp"

namespace ramify {

namespace {

template <typename Visit>
void for_each_positive(const RankingView& ranking, std::span<const std::int32_t> labels,
                       Visit visit) {
    const auto chosen = membership(labels, ranking.scores.n_columns);
    for (std::size_t r = 0; r < ranking.scores.n_rows; ++r) {
        for (const std::int32_t label : ranking.truth.row(r)) {
            const auto l = static_cast<std::size_t>(label);
            if (chosen[l]) visit(ranking.scores.at(r, l), ranking.weight(r));
        }
    }
}

/// Visits the cells in the order of the memory layout, row-major or column-major.
template <typename Visit>
void for_each_cell(const RankingView& ranking, std::span<const std::int32_t> labels,
                   StopSignal& signal, Visit visit) {
    const MatrixView<double>& scores = ranking.scores;
    if (std::abs(scores.column_stride) <= std::abs(scores.row_stride)) {
        for (std::size_t r = 0; r < scores.n_rows; ++r) {
            if (r % 64 == 0) signal.check();
            const double weight = ranking.weight(r);
            for (const std::int32_t l : labels)
                visit(scores.at(r, static_cast<std::size_t>(l)), weight);
        }
    } else {
        for (const std::int32_t l : labels) {
            for (std::size_t r = 0; r < scores.n_rows; ++r) {
                if (r % 4096 == 0) signal.check();
                visit(scores.at(r, static_cast<std::size_t>(l)), ranking.weight(r));
            }
        }
    }
}

// Davis and Goadrich: between (TP1, FP1) and (TP2, FP2), false positives grow linearly with true
// positives, so the precision at t true positives is t / (t + FP1 + slope * (t - TP1)).
struct Segment {
    double tp_begin;
    double fp_begin;
    double tp_end;
    double fp_end;

    double precision(double tp) const {
        const double slope = (fp_end - fp_begin) / (tp_end - tp_begin);
        const double predicted = tp + fp_begin + slope * (tp - tp_begin);
        return predicted > 0.0 ? tp / predicted : 1.0;
    }
    double precision_begin() const {
        const double predicted = tp_begin + fp_begin;
        return predicted > 0.0 ? tp_begin / predicted : precision_end();
    }
    double precision_end() const { return tp_end / (tp_end + fp_end); }
};

/// Integral of precision over true positives: with a = 1 + slope and b = FP1 - slope * TP1,
/// t / (a t + b) integrates to t / a - b / a^2 * log(a t + b).
double continuous_area(const Segment& s) {
    const double gained = s.tp_end - s.tp_begin;
    const double predicted_begin = s.tp_begin + s.fp_begin;
    const double predicted_end = s.tp_end + s.fp_end;
    const double a = (predicted_end - predicted_begin) / gained;
    const double b = predicted_begin - a * s.tp_begin;
    if (predicted_begin <= 0.0 || b == 0.0) return gained / a;
    return gained / a - b / (a * a) * std::log(predicted_end / predicted_begin);
}

double davis_goadrich_area(const Segment& s) {
    // Beyond this many inserted points, which only large row weights can reach, the trapezoids and
    // the integral agree to the last digits.
    constexpr double max_points = 1e6;
    if (s.tp_end - s.tp_begin > max_points) return continuous_area(s);
    double area = 0.0;
    double tp = s.tp_begin;
    double precision = s.precision_begin();
    for (double next = tp + 1.0; next < s.tp_end; next += 1.0) {
        const double next_precision = s.precision(next);
        area += 0.5 * (precision + next_precision) * (next - tp);
        tp = next;
        precision = next_precision;
    }
    return area + 0.5 * (precision + s.precision_end()) * (s.tp_end - tp);
}

double segment_area(const Segment& s, Interpolation interpolation) {
    const double gained = s.tp_end - s.tp_begin;
    switch (interpolation) {
        case Interpolation::davis_goadrich:
            return davis_goadrich_area(s);
        case Interpolation::continuous:
            return continuous_area(s);
        case Interpolation::linear:
            return 0.5 * (s.precision_begin() + s.precision_end()) * gained;
        case Interpolation::step:
            break;
    }
    return s.precision_end() * gained;
}

/// Reads a row-major matrix label by label, in blocks of columns that stay in the cache.
class ColumnReader {
  public:
    ColumnReader(const MatrixView<double>& scores, std::span<const std::int32_t> labels)
        : scores_(scores), labels_(labels), buffer_(scores.n_rows * block_size) {}

    std::span<const double> column(std::size_t k) {
        if (k % block_size == 0) load(k);
        return {buffer_.data() + (k % block_size) * scores_.n_rows, scores_.n_rows};
    }

  private:
    static constexpr std::size_t block_size = 16;

    void load(std::size_t begin) {
        const std::size_t width = std::min(block_size, labels_.size() - begin);
        for (std::size_t r = 0; r < scores_.n_rows; ++r) {
            for (std::size_t j = 0; j < width; ++j) {
                buffer_[j * scores_.n_rows + r] =
                    scores_.at(r, static_cast<std::size_t>(labels_[begin + j]));
            }
        }
    }

    const MatrixView<double>& scores_;
    std::span<const std::int32_t> labels_;
    std::vector<double> buffer_;
};

CurveSteps label_steps(const RankingView& ranking, std::span<const double> column,
                       std::span<const std::int32_t> positive_rows, double total) {
    std::vector<double> scores;
    scores.reserve(positive_rows.size());
    for (const std::int32_t r : positive_rows)
        scores.push_back(column[static_cast<std::size_t>(r)]);
    if (scores.empty()) return no_steps(total);
    StepCounter counter(std::move(scores));
    for (std::size_t r = 0; r < column.size(); ++r) counter.add_cell(column[r], ranking.weight(r));
    for (const std::int32_t row : positive_rows) {
        const auto r = static_cast<std::size_t>(row);
        counter.add_positive(column[r], ranking.weight(r));
    }
    return counter.steps(total);
}

}  // namespace

bool all_finite(const RankingView& ranking, std::span<const std::int32_t> labels,
                StopSignal& signal) {
    // x - x is 0 if x is finite and NaN otherwise; summing avoids a branch in the loop.
    double sum = 0.0;
    for_each_cell(ranking, labels, signal, [&](double score, double) { sum += score - score; });
    return sum == 0.0;
}

CurveSteps pooled_steps(const RankingView& ranking, std::span<const std::int32_t> labels,
                        StopSignal& signal) {
    const double total = ranking.total_weight() * static_cast<double>(labels.size());
    std::vector<double> scores;
    scores.reserve(ranking.truth.indices.size());
    for_each_positive(ranking, labels, [&](double score, double) { scores.push_back(score); });
    if (scores.empty()) return no_steps(total);
    StepCounter counter(std::move(scores));
    for_each_positive(ranking, labels,
                      [&](double score, double weight) { counter.add_positive(score, weight); });
    for_each_cell(ranking, labels, signal,
                  [&](double score, double weight) { counter.add_cell(score, weight); });
    return counter.steps(total);
}

double precision_recall_area(const StepsView& steps, Interpolation interpolation) {
    if (!(steps.n_positive > 0.0)) return std::numeric_limits<double>::quiet_NaN();
    double area = 0.0;
    double tp = 0.0;
    double fp = 0.0;
    for (std::size_t k = 0; k < steps.positives.size(); ++k) {
        fp += steps.negatives_above[k];
        const Segment segment{tp, fp, tp + steps.positives[k], fp + steps.negatives[k]};
        // Rows of weight 0 make empty steps.
        if (segment.tp_end > segment.tp_begin) {
            // There is no interpolation before the first point: its precision applies from recall
            // 0.
            const bool first = segment.tp_begin + segment.fp_begin <= 0.0;
            area += segment_area(segment, first ? Interpolation::step : interpolation);
        }
        tp = segment.tp_end;
        fp = segment.fp_end;
    }
    return area / steps.n_positive;
}

double roc_area(const StepsView& steps) {
    if (!(steps.n_positive > 0.0) || !(steps.n_negative > 0.0)) return 0.5;
    double misordered = 0.0;
    double fp = 0.0;
    for (std::size_t k = 0; k < steps.positives.size(); ++k) {
        fp += steps.negatives_above[k];
        misordered += steps.positives[k] * (fp + 0.5 * steps.negatives[k]);
        fp += steps.negatives[k];
    }
    return 1.0 - misordered / (steps.n_positive * steps.n_negative);
}

LabelAreas label_areas(const RankingView& ranking, std::span<const std::int32_t> labels,
                       Interpolation interpolation, StopSignal& signal) {
    const double total = ranking.total_weight();
    const SparseRows rows = rows_of_labels(ranking.truth, ranking.scores.n_columns);
    const SparseRowsView positive_rows{rows.indptr, rows.indices};
    ColumnReader reader(ranking.scores, labels);
    LabelAreas areas;
    for (std::size_t k = 0; k < labels.size(); ++k) {
        signal.check();
        const auto positives = positive_rows.row(static_cast<std::size_t>(labels[k]));
        const auto steps = label_steps(ranking, reader.column(k), positives, total);
        append_areas(steps, interpolation, areas);
    }
    return areas;
}

}  // namespace ramify
