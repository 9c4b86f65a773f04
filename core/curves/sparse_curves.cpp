// Curves of sparse scores. The cost is that of the stored scores: all others are equal to 0 and
// are counted together.
#include <algorithm>

#include "curves/curves.hpp"
#include "curves/step_counter.hpp"

namespace ramify {

namespace {

struct StoredRow {
    std::span<const std::int32_t> label;
    std::span<const double> score;
};

StoredRow stored_row(const CsrView& scores, std::size_t r) {
    const auto begin = static_cast<std::size_t>(scores.indptr[r]);
    const auto n = static_cast<std::size_t>(scores.indptr[r + 1]) - begin;
    return {scores.indices.subspan(begin, n), scores.data.subspan(begin, n)};
}

/// Calls visit(index, score) for every wanted index; the score is 0 if the index is not stored.
/// Both lists of indices increase.
template <typename Visit>
void look_up(std::span<const std::int32_t> wanted, std::span<const std::int32_t> stored,
             std::span<const double> score, Visit visit) {
    std::size_t k = 0;
    for (const std::int32_t index : wanted) {
        while (k < stored.size() && stored[k] < index) ++k;
        visit(index, k < stored.size() && stored[k] == index ? score[k] : 0.0);
    }
}

template <typename Visit>
void for_each_positive(const SparseRankingView& ranking, const std::vector<char>& chosen,
                       Visit visit) {
    for (std::size_t r = 0; r < ranking.truth.n_rows(); ++r) {
        const StoredRow row = stored_row(ranking.scores, r);
        look_up(ranking.truth.row(r), row.label, row.score, [&](std::int32_t label, double score) {
            if (chosen[static_cast<std::size_t>(label)]) visit(score, ranking.weight(r));
        });
    }
}

/// Calls visit(score) for the stored scores of a row among the chosen labels.
template <typename Visit>
void for_each_stored(const StoredRow& row, std::span<const std::int32_t> labels,
                     const std::vector<char>& chosen, Visit visit) {
    constexpr std::size_t cost_of_search = 8;
    if (labels.size() * cost_of_search < row.label.size()) {
        for (const std::int32_t label : labels) {
            const auto found = std::lower_bound(row.label.begin(), row.label.end(), label);
            if (found != row.label.end() && *found == label) {
                visit(row.score[static_cast<std::size_t>(found - row.label.begin())]);
            }
        }
        return;
    }
    for (std::size_t i = 0; i < row.label.size(); ++i) {
        if (chosen[static_cast<std::size_t>(row.label[i])]) visit(row.score[i]);
    }
}

/// The stored scores of one label: rows increase.
struct StoredColumn {
    std::span<const std::int32_t> row;
    std::span<const double> score;
};

/// Reads scores by label, for as many labels at a time as fit into a buffer.
class ColumnGroups {
  public:
    ColumnGroups(const CsrView& scores, std::span<const std::int32_t> labels)
        : scores_(scores),
          labels_(labels),
          place_(scores.n_columns, labels.size()),
          count_(labels.size() + 1, 0) {
        for (std::size_t k = 0; k < labels.size(); ++k) {
            place_[static_cast<std::size_t>(labels[k])] = k;
        }
        for (const std::int32_t label : scores.indices) {
            ++count_[place_[static_cast<std::size_t>(label)]];
        }
    }

    /// Columns must be asked for in increasing order.
    StoredColumn column(std::size_t k) {
        if (k >= end_) load(k);
        const auto begin = start_[k - begin_];
        return {std::span(row_).subspan(begin, count_[k]),
                std::span(score_).subspan(begin, count_[k])};
    }

  private:
    static constexpr std::size_t max_cells = std::size_t{1} << 22;

    void load(std::size_t begin) {
        begin_ = end_ = begin;
        start_.clear();
        std::size_t n_cells = 0;
        do {
            start_.push_back(n_cells);
            n_cells += count_[end_++];
        } while (end_ < labels_.size() && n_cells + count_[end_] <= max_cells);
        row_.resize(n_cells);
        score_.resize(n_cells);
        auto next = start_;
        for (std::size_t r = 0; r + 1 < scores_.indptr.size(); ++r) copy_row(r, next);
    }

    void copy_row(std::size_t r, std::vector<std::size_t>& next) {
        const StoredRow row = stored_row(scores_, r);
        const auto first = std::lower_bound(row.label.begin(), row.label.end(), labels_[begin_]);
        for (auto i = static_cast<std::size_t>(first - row.label.begin());
             i < row.label.size() && row.label[i] <= labels_[end_ - 1]; ++i) {
            const std::size_t k = place_[static_cast<std::size_t>(row.label[i])];
            if (k == labels_.size()) continue;
            const std::size_t at = next[k - begin_]++;
            row_[at] = static_cast<std::int32_t>(r);
            score_[at] = row.score[i];
        }
    }

    const CsrView& scores_;
    std::span<const std::int32_t> labels_;
    std::vector<std::size_t> place_;  // of each label among the chosen ones, or their number
    std::vector<std::size_t> count_;  // of the cells of each chosen label, and of all others
    std::size_t begin_ = 0;           // the labels in the buffer
    std::size_t end_ = 0;
    std::vector<std::size_t> start_;
    std::vector<std::int32_t> row_;
    std::vector<double> score_;
};

CurveSteps label_steps(const SparseRankingView& ranking, const StoredColumn& column,
                       std::span<const std::int32_t> positive_rows, double total) {
    if (positive_rows.empty()) return no_steps(total);
    std::vector<double> scores;
    scores.reserve(positive_rows.size());
    look_up(positive_rows, column.row, column.score,
            [&](std::int32_t, double score) { scores.push_back(score); });
    const std::vector<double> of_positives = scores;
    StepCounter counter(std::move(scores));
    double stored = 0.0;
    for (std::size_t i = 0; i < column.row.size(); ++i) {
        const double weight = ranking.weight(static_cast<std::size_t>(column.row[i]));
        counter.add_cell(column.score[i], weight);
        stored += weight;
    }
    counter.add_cell(0.0, remainder(total, stored));
    for (std::size_t i = 0; i < positive_rows.size(); ++i) {
        counter.add_positive(of_positives[i],
                             ranking.weight(static_cast<std::size_t>(positive_rows[i])));
    }
    return counter.steps(total);
}

}  // namespace

CurveSteps pooled_steps(const SparseRankingView& ranking, std::span<const std::int32_t> labels,
                        StopSignal& signal) {
    const double total = ranking.total_weight() * static_cast<double>(labels.size());
    const auto chosen = membership(labels, ranking.scores.n_columns);
    std::vector<double> scores;
    for_each_positive(ranking, chosen, [&](double score, double) { scores.push_back(score); });
    if (scores.empty()) return no_steps(total);
    StepCounter counter(std::move(scores));
    for_each_positive(ranking, chosen,
                      [&](double score, double weight) { counter.add_positive(score, weight); });
    double stored = 0.0;
    for (std::size_t r = 0; r < ranking.truth.n_rows(); ++r) {
        if (r % 64 == 0) signal.check();
        const double weight = ranking.weight(r);
        for_each_stored(stored_row(ranking.scores, r), labels, chosen, [&](double score) {
            counter.add_cell(score, weight);
            stored += weight;
        });
    }
    counter.add_cell(0.0, remainder(total, stored));
    return counter.steps(total);
}

LabelAreas label_areas(const SparseRankingView& ranking, std::span<const std::int32_t> labels,
                       Interpolation interpolation, StopSignal& signal) {
    const double total = ranking.total_weight();
    const SparseRows rows = rows_of_labels(ranking.truth, ranking.scores.n_columns);
    const SparseRowsView positive_rows{rows.indptr, rows.indices};
    ColumnGroups columns(ranking.scores, labels);
    LabelAreas areas;
    for (std::size_t k = 0; k < labels.size(); ++k) {
        signal.check();
        const auto positives = positive_rows.row(static_cast<std::size_t>(labels[k]));
        append_areas(label_steps(ranking, columns.column(k), positives, total), interpolation,
                     areas);
    }
    return areas;
}

}  // namespace ramify
