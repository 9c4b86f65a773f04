#include "adaboost/adaboost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "adaboost/cells.hpp"

namespace ramify {

namespace {

/// Partial sums over this many rows are added in order, so that sums do not depend on threads.
constexpr std::size_t rows_per_part = 1024;
/// Below this amount of work, starting threads does not pay.
constexpr std::size_t min_parallel_work = 1u << 18;

/// Edges up to this value are 0 up to rounding.
constexpr double edge_tolerance = 1e-10;

}  // namespace

Booster::Booster(const Dataset& dataset, const BoostingLabels& labels,
                 std::span<const double> row_weight, std::span<const double> label_weight,
                 const BoostingOptions& options)
    : columns_(make_boosting_columns(dataset, options.max_bins)),
      layout_(labels.parents),
      options_(options),
      n_rows_(dataset.n_rows),
      cells_(dataset.n_rows, layout_.n_blocks()),
      labels_(layout_.n_blocks() * n_rows_, 0),
      votes_(labels_.size(), 0),
      correct_(labels_.size(), 0) {
    double row_sum = 0;
    double label_sum = 0;
    for (const double weight : row_weight) row_sum += weight;
    for (const double weight : label_weight) label_sum += weight;
    for (std::size_t i = 0; i < n_rows_; ++i) {
        for (std::size_t j = 0; j < n_labels(); ++j) {
            cells_[cells_.place(i, layout_.lane(j))] =
                -(row_weight[i] / row_sum) * (label_weight[j] / label_sum);
        }
        for (auto k = labels.indptr[i]; k < labels.indptr[i + 1]; ++k) {
            const auto j = static_cast<std::size_t>(labels.indices[static_cast<std::size_t>(k)]);
            const auto lane = layout_.lane(j);
            auto& cell = cells_[cells_.place(i, lane)];
            cell = -cell;
            labels_[lane / label_lanes * n_rows_ + i] |= lane_bit(lane % label_lanes);
        }
    }
    scratch_.resize(std::max(1u, options_.n_threads));
    const std::size_t work = n_rows_ * n_labels() * std::max<std::size_t>(1, columns_.size());
    if (work < min_parallel_work) options_.n_threads = 1;
}

void Booster::hide(std::span<const std::uint32_t> pattern_of_row, SparseRowsView patterns) {
    for (std::size_t i = 0; i < n_rows_; ++i) {
        for (const auto label : patterns.row(pattern_of_row[i])) {
            auto& cell = cells_[cells_.place(i, layout_.lane(static_cast<std::size_t>(label)))];
            cell = std::copysign(0.0, cell);
        }
    }
    double sum = 0;
    for (std::size_t k = 0; k < cells_.size(); ++k) sum += std::fabs(cells_[k]);
    for (std::size_t k = 0; k < cells_.size(); ++k) cells_[k] /= sum;
}

/// Calls work(part, begin, end) for parts of rows_per_part rows.
template <typename Work>
void Booster::for_rows(StopSignal& signal, Work work) {
    const std::size_t n_parts = (n_rows_ + rows_per_part - 1) / rows_per_part;
    parallel_for(options_.n_threads, n_parts, signal, [&](unsigned, std::size_t part) {
        signal.check();
        const auto begin = part * rows_per_part;
        work(part, begin, std::min(n_rows_, begin + rows_per_part));
    });
}

WeakHypothesis Booster::learn(const std::function<bool()>& interrupted) {
    StopSignal signal(interrupted);
    auto found = empty_hypothesis(options_.depth, n_labels(), options_.shared);
    learn_trees(signal, found);
    if (options_.relax) uncorrected_votes_ = votes_;
    corrected_ = true;
    edge_ = measure_edge(signal, true);
    if (options_.relax && edge_ <= edge_tolerance) {
        votes_.swap(uncorrected_votes_);
        corrected_ = false;
        edge_ = measure_edge(signal, false);
    }
    if (options_.top_down == TopDown::always && corrected_) {
        std::ranges::fill(found.top_down, std::uint8_t{follows()});
    }
    return found;
}

void Booster::learn_trees(StopSignal& signal, WeakHypothesis& found) {
    const bool best_of_two = options_.top_down == TopDown::best;
    const WeakProblem problem{columns_,       layout_,     cells_,   n_rows_,
                              options_.depth, best_of_two, follows()};
    if (options_.shared) {
        learn_shared(problem, options_.n_threads, signal, found, votes_);
        return;
    }
    const auto learn_blocks = [&](std::size_t first, std::size_t last) {
        parallel_for(options_.n_threads, last - first, signal,
                     [&](unsigned thread, std::size_t k) {
                         learn_block(problem, first + k, signal, scratch_[thread], found, votes_);
                     });
    };
    if (!best_of_two) {
        learn_blocks(0, layout_.n_blocks());
        return;
    }
    const auto levels = layout_.level_blocks();
    for (std::size_t v = 0; v + 1 < levels.size(); ++v) learn_blocks(levels[v], levels[v + 1]);
}

/// Marks the correct votes. If `corrected`, votes below a negative vote become negative first, and
/// votes below a wrong vote count as wrong.
void Booster::mark_correct_votes(std::size_t begin, std::size_t end, bool corrected) {
    const bool correct_votes = corrected && options_.top_down == TopDown::always;
    const bool inherit = corrected && options_.inherit_mistakes;
    for (std::size_t b = 0; b < cells_.n_blocks(); ++b) {  // parents come before their children
        const auto above = [&](std::span<const LabelBits> marks, FollowsParents follows) {
            return allowed_by_parents(layout_, n_rows_, b, begin, end, marks, follows);
        };
        const auto first = b * n_rows_ + begin;
        const auto n = end - begin;
        if (correct_votes) {
            const auto allowed = above(votes_, follows());
            for (std::size_t i = 0; i < n; ++i) votes_[first + i] &= allowed[i];
        }
        for (std::size_t k = first; k < first + n; ++k) {
            correct_[k] = static_cast<LabelBits>(~(votes_[k] ^ labels_[k]));
        }
        if (inherit) {
            const auto allowed = above(correct_, follows_each);
            for (std::size_t i = 0; i < n; ++i) correct_[first + i] &= allowed[i];
        }
    }
}

double Booster::measure_edge(StopSignal& signal, bool corrected) {
    std::vector<LaneSums> parts((n_rows_ + rows_per_part - 1) / rows_per_part);
    for_rows(signal, [&](std::size_t part, std::size_t begin, std::size_t end) {
        mark_correct_votes(begin, end, corrected);
        for (std::size_t b = 0; b < cells_.n_blocks(); ++b) {
            const auto correct = std::span(correct_).subspan(b * n_rows_ + begin, end - begin);
            add_correct(cells_.block(b) + begin * label_lanes, correct, parts[part]);
        }
    });
    double correct = 0;
    double all = 0;
    for (const auto& part : parts) {
        correct += std::accumulate(std::begin(part.sum), std::end(part.sum), 0.0);
        all += std::accumulate(std::begin(part.weight), std::end(part.weight), 0.0);
    }
    return correct / all;
}

void Booster::reweigh() {
    const double correct_factor = 1 / (1 + edge_);
    const double wrong_factor = 1 / (1 - edge_);
    for (std::size_t b = 0; b < cells_.n_blocks(); ++b) {
        const auto correct = std::span(correct_).subspan(b * n_rows_, n_rows_);
        multiply(cells_.block(b), correct, correct_factor, wrong_factor);
    }
}

double Booster::weight(std::size_t row, std::size_t label) const {
    return std::fabs(cells_[cells_.place(row, layout_.lane(label))]);
}

}  // namespace ramify
