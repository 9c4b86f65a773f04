#include "adaboost/adaboost.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ramify {

namespace {

/// Sums of a fixed number of rows are added up in order, whoever computed them.
constexpr std::size_t rows_at_a_time = 1024;
/// Less work than this is not worth waking a thread.
constexpr std::size_t work_of_a_thread = 1u << 18;

/// An edge of no more than this is 0 but for rounding.
constexpr double no_edge = 1e-10;

}  // namespace

Booster::Booster(const Dataset& dataset, const BoostingLabels& labels,
                 std::span<const double> row_weight, std::span<const double> label_weight,
                 const BoostingOptions& options)
    : columns_(make_boosting_columns(dataset, options.n_steps)),
      layout_(labels.parents),
      options_(options),
      n_rows_(dataset.n_rows),
      cells_(dataset.n_rows, layout_.n_blocks()),
      votes_(cells_.size(), -1),
      right_(cells_.size(), 1) {
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
    if (work < work_of_a_thread) options_.n_threads = 1;
}

/// Calls work(part, begin, end) for a fixed number of rows at a time.
template <typename Work>
void Booster::for_rows(StopSignal& signal, Work work) {
    const std::size_t n_parts = (n_rows_ + rows_at_a_time - 1) / rows_at_a_time;
    parallel_for(options_.n_threads, n_parts, signal, [&](unsigned, std::size_t part) {
        signal.check();
        const auto begin = part * rows_at_a_time;
        work(part, begin, std::min(n_rows_, begin + rows_at_a_time));
    });
}

WeakHypothesis Booster::learn(const std::function<bool()>& interrupted) {
    StopSignal signal(interrupted);
    auto found = empty_hypothesis(options_.depth, n_labels(), options_.shared);
    const WeakProblem problem{columns_, layout_, cells_, n_rows_, options_.depth};
    if (options_.shared) {
        learn_shared(problem, options_.n_threads, signal, found, votes_);
    } else {
        parallel_for(options_.n_threads, layout_.n_blocks(), signal,
                     [&](unsigned, std::size_t block) {
                         learn_block(problem, block, signal, found, votes_);
                     });
    }
    if (options_.relax) kept_ = votes_;
    corrected_ = true;
    edge_ = measure_edge(signal, true);
    if (options_.relax && edge_ <= no_edge) {
        votes_.swap(kept_);
        corrected_ = false;
        edge_ = measure_edge(signal, false);
    }
    return found;
}

/// Finds out which votes are right; `corrected`: after those below negative ones are silenced, and
/// with those below wrong ones wrong.
void Booster::judge_votes(std::size_t begin, std::size_t end, bool corrected) {
    const auto size = (end - begin) * label_lanes;
    for (std::size_t j = 0; j < n_labels(); ++j) {
        const auto own = cells_.place(begin, layout_.lane(j));
        const auto take_lesser = [&](std::vector<std::int8_t>& marks) {
            for (const auto parent : layout_.parents(j)) {
                const auto above = cells_.place(begin, layout_.lane(parent));
                for (std::size_t k = 0; k < size; k += label_lanes) {
                    marks[own + k] = std::min(marks[own + k], marks[above + k]);
                }
            }
        };
        if (corrected && options_.top_down) take_lesser(votes_);
        for (std::size_t k = own; k < own + size; k += label_lanes) {
            // A weight of 0 keeps its sign.
            right_[k] = (votes_[k] > 0) != std::signbit(cells_[k]) ? 1 : -1;
        }
        if (corrected && options_.inherit_mistakes) take_lesser(right_);
    }
}

double Booster::measure_edge(StopSignal& signal, bool corrected) {
    struct Sums {
        double right = 0;
        double all = 0;
    };
    std::vector<Sums> sums((n_rows_ + rows_at_a_time - 1) / rows_at_a_time);
    for_rows(signal, [&](std::size_t part, std::size_t begin, std::size_t end) {
        judge_votes(begin, end, corrected);
        double right[label_lanes] = {};
        double all[label_lanes] = {};
        for (std::size_t b = 0; b < cells_.n_blocks(); ++b) {
            const double* cells = cells_.block(b);
            const auto* is_right = right_.data() + b * n_rows_ * label_lanes;
            for (std::size_t i = begin; i < end; ++i) {
                for (std::size_t t = 0; t < label_lanes; ++t) {
                    const double weight = std::fabs(cells[i * label_lanes + t]);
                    right[t] += weight * is_right[i * label_lanes + t];
                    all[t] += weight;
                }
            }
        }
        for (std::size_t t = 0; t < label_lanes; ++t) {
            sums[part].right += right[t];
            sums[part].all += all[t];
        }
    });
    Sums total;
    for (const auto& part : sums) {
        total.right += part.right;
        total.all += part.all;
    }
    return total.right / total.all;
}

void Booster::reweigh() {
    const double of_right = 1 / (1 + edge_);
    const double of_wrong = 1 / (1 - edge_);
    for (std::size_t k = 0; k < cells_.size(); ++k) {
        cells_[k] *= right_[k] > 0 ? of_right : of_wrong;
    }
}

double Booster::weight(std::size_t row, std::size_t label) const {
    return std::fabs(cells_[cells_.place(row, layout_.lane(label))]);
}

}  // namespace ramify
