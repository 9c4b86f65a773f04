#include "adaboost/adaboost.hpp"

#include <algorithm>
#include <cmath>
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
      votes_(cells_.size(), -1),
      correct_(cells_.size(), 1) {
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
            auto& cell = cells_[cells_.place(i, layout_.lane(j))];
            cell = -cell;
        }
    }
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
        parallel_for(options_.n_threads, last - first, signal, [&](unsigned, std::size_t k) {
            learn_block(problem, first + k, signal, found, votes_);
        });
    };
    if (!best_of_two) {
        learn_blocks(0, layout_.n_blocks());
        return;
    }
    const auto levels = layout_.level_blocks();
    for (std::size_t v = 0; v + 1 < levels.size(); ++v) learn_blocks(levels[v], levels[v + 1]);
}

/// Makes marks of a label negative where those of its parents require it.
void Booster::follow_parents(std::size_t label, std::size_t begin, std::size_t end,
                             std::vector<std::int8_t>& marks, FollowsParents follows) {
    const auto above = above_label(layout_, cells_, label, begin, end, marks, follows);
    auto* own = marks.data() + cells_.place(begin, layout_.lane(label));
    for (std::size_t i = 0; i < above.size(); ++i) {
        own[i * label_lanes] = std::min(own[i * label_lanes], above[i]);
    }
}

/// Marks the correct votes. If `corrected`, votes below a negative vote become negative first, and
/// votes below a wrong vote count as wrong.
void Booster::mark_correct_votes(std::size_t begin, std::size_t end, bool corrected) {
    const auto size = (end - begin) * label_lanes;
    if (!corrected || (options_.top_down != TopDown::always && !options_.inherit_mistakes)) {
        for (std::size_t b = 0; b < cells_.n_blocks(); ++b) {
            const auto first = cells_.place(begin, b * label_lanes);
            mark_correct(&cells_[first], votes_.data() + first, size, correct_.data() + first);
        }
        return;
    }
    for (std::size_t j = 0; j < n_labels(); ++j) {
        const auto own = cells_.place(begin, layout_.lane(j));
        if (options_.top_down == TopDown::always) follow_parents(j, begin, end, votes_, follows());
        for (std::size_t k = own; k < own + size; k += label_lanes) {
            // The sign is also valid if the weight is 0.
            correct_[k] = (votes_[k] > 0) != std::signbit(cells_[k]) ? 1 : -1;
        }
        if (options_.inherit_mistakes) follow_parents(j, begin, end, correct_, follows_each);
    }
}

double Booster::measure_edge(StopSignal& signal, bool corrected) {
    struct Sums {
        double correct = 0;
        double all = 0;
    };
    std::vector<Sums> sums((n_rows_ + rows_per_part - 1) / rows_per_part);
    for_rows(signal, [&](std::size_t part, std::size_t begin, std::size_t end) {
        mark_correct_votes(begin, end, corrected);
        double correct[label_lanes] = {};
        double all[label_lanes] = {};
        for (std::size_t b = 0; b < cells_.n_blocks(); ++b) {
            const double* cells = cells_.block(b);
            const auto* is_correct = correct_.data() + b * n_rows_ * label_lanes;
            for (std::size_t i = begin; i < end; ++i) {
                for (std::size_t t = 0; t < label_lanes; ++t) {
                    const double weight = std::fabs(cells[i * label_lanes + t]);
                    correct[t] += weight * is_correct[i * label_lanes + t];
                    all[t] += weight;
                }
            }
        }
        for (std::size_t t = 0; t < label_lanes; ++t) {
            sums[part].correct += correct[t];
            sums[part].all += all[t];
        }
    });
    Sums total;
    for (const auto& part : sums) {
        total.correct += part.correct;
        total.all += part.all;
    }
    return total.correct / total.all;
}

void Booster::reweigh() {
    const double correct_factor = 1 / (1 + edge_);
    const double wrong_factor = 1 / (1 - edge_);
    for (std::size_t k = 0; k < cells_.size(); ++k) {
        cells_[k] *= correct_[k] > 0 ? correct_factor : wrong_factor;
    }
}

double Booster::weight(std::size_t row, std::size_t label) const {
    return std::fabs(cells_[cells_.place(row, layout_.lane(label))]);
}

}  // namespace ramify
