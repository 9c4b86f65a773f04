// One tree for all labels: chooses the test with the largest sum of edges over the labels.
#include <algorithm>
#include <array>
#include <cmath>

#include "adaboost/search.hpp"

namespace ramify {

namespace {

struct SharedBest {
    double score = -1;
    std::size_t group = 0;
    bool default_right = false;
};

class SharedLearner {
  public:
    SharedLearner(const WeakProblem& problem, unsigned n_threads, StopSignal& signal,
                  WeakHypothesis& found)
        : problem_(problem),
          n_threads_(n_threads),
          signal_(signal),
          found_(found),
          path_(problem.n_rows, 0),
          right_(problem.n_rows),
          masked_(problem.n_rows, problem.depth > 1 ? problem.cells.n_blocks() : 0) {}

    void learn(std::span<LabelBits> votes) {
        for (std::size_t level = 0; level < problem_.depth; ++level) {
            std::vector<std::uint8_t> next(path_.size());
            for (std::size_t node = 0; node < (std::size_t{1} << level); ++node) {
                auto& test = found_.tests[(std::size_t{1} << level) - 1 + node];
                learn_node(level == 0 ? problem_.cells : masked_of(node), test);
                send(test, node, next);
            }
            path_.swap(next);
        }
        vote(votes);
    }

  private:
    const LabelBlocks& masked_of(std::size_t node) {
        std::vector<LabelBits> inside(problem_.n_rows);
        for (std::size_t i = 0; i < inside.size(); ++i) {
            inside[i] = static_cast<LabelBits>(path_[i] == node ? -1 : 0);
        }
        for (std::size_t b = 0; b < masked_.n_blocks(); ++b) {
            copy_where(problem_.cells.block(b), inside, masked_.block(b));
        }
        return masked_;
    }

    void learn_node(const LabelBlocks& cells, BoostingTest& test) {
        std::vector<LaneTotals> totals;
        double constant = 0;
        double weight = 0;
        for (std::size_t b = 0; b < cells.n_blocks(); ++b) {
            totals.push_back(total_of(cells.block(b), problem_.n_rows));
            for (std::size_t t = 0; t < label_lanes; ++t) {
                constant += std::fabs(totals.back().sum[t]);
                weight += totals.back().weight[t];
            }
        }
        const double tolerance = relative_tolerance * weight;
        std::vector<SharedBest> best(problem_.columns.size());
        parallel_for(n_threads_, best.size(), signal_, [&](unsigned, std::size_t f) {
            best[f] = best_of(problem_.columns[f], cells, totals, tolerance);
        });
        double limit = constant + tolerance;
        for (std::size_t f = 0; f < best.size(); ++f) {
            if (!(best[f].score > limit)) continue;
            limit = best[f].score + tolerance;
            test.feature = static_cast<std::int32_t>(f);
            test.group = best[f].group;
            test.default_right = best[f].default_right;
        }
        if (test.feature >= 0) complete(cells, tolerance, test);
    }

    SharedBest best_of(const BoostingColumn& column, const LabelBlocks& cells,
                       const std::vector<LaneTotals>& totals, double tolerance) {
        std::vector<double> right(column.n_groups(), 0.0);
        std::vector<double> left(column.n_groups(), 0.0);
        for (std::size_t b = 0; b < cells.n_blocks(); ++b) {
            signal_.check();
            add_shared_scores(column, cells.block(b), totals[b], right.data(), left.data());
        }
        SharedBest best;
        const std::size_t n_tests = column.n_groups() - (column.nominal || right.empty() ? 0 : 1);
        double limit = -1;
        for (std::size_t g = 0; g < n_tests; ++g) {
            const double score = std::max(right[g], left[g]);
            if (!(score > limit)) continue;
            limit = score + tolerance;
            best = {score, g, right[g] > left[g] + tolerance};
        }
        return best;
    }

    /// Sets the threshold or the categories. If no training value is missing, missing values go to
    /// the heavier side.
    void complete(const LabelBlocks& cells, double tolerance, BoostingTest& test) {
        const auto& column = problem_.columns[static_cast<std::size_t>(test.feature)];
        if (column.nominal) {
            test.category_right.assign(column.n_groups(), 0);
            test.category_right[test.group] = 1;
        } else {
            test.threshold = column.thresholds[test.group];
        }
        if (column.missing.empty()) {
            mark_right(column, test, right_);
            double balance = 0;
            for (std::size_t b = 0; b < cells.n_blocks(); ++b) {
                for (std::size_t k = 0; k < problem_.n_rows * label_lanes; ++k) {
                    const double weight = std::fabs(cells.block(b)[k]);
                    balance += right_[k / label_lanes] != 0 ? weight : -weight;
                }
            }
            test.default_right = balance > tolerance;
        }
        for (std::size_t g = 0; g < test.category_right.size(); ++g) {
            const bool empty = column.ends[g] == (g == 0 ? 0 : column.ends[g - 1]);
            if (empty) test.category_right[g] = test.default_right ? 1 : 0;
        }
    }

    void send(const BoostingTest& test, std::size_t node, std::vector<std::uint8_t>& next) {
        if (test.feature < 0) {
            std::ranges::fill(right_, std::uint8_t{0});
        } else {
            mark_right(problem_.columns[static_cast<std::size_t>(test.feature)], test, right_);
        }
        for (std::size_t i = 0; i < path_.size(); ++i) {
            if (path_[i] == node) next[i] = static_cast<std::uint8_t>(2 * node + right_[i]);
        }
    }

    void vote(std::span<LabelBits> votes) {
        for (std::size_t b = 0; b < problem_.cells.n_blocks(); ++b) {
            const double* cells = problem_.cells.block(b);
            const auto signs = signs_of(cells);
            std::vector<LabelBits> own(problem_.n_rows);
            for (std::size_t i = 0; i < own.size(); ++i) own[i] = signs[path_[i]];
            store(signs, b, static_cast<LabelBits>(-1));
            const bool has_parents = b >= problem_.layout.level_blocks()[1];
            if (problem_.best_of_two && has_parents) improve_below_parents(b, votes, own);
            std::ranges::copy(own,
                              votes.begin() + static_cast<std::ptrdiff_t>(b * problem_.n_rows));
        }
    }

    /// Replaces the votes of a block's labels by those that leaves would give for the rows whose
    /// parents allow it, and -1 elsewhere, where these have a larger edge.
    void improve_below_parents(std::size_t block, std::span<const LabelBits> votes,
                               std::vector<LabelBits>& own) {
        const auto allowed = allowed_by_parents(problem_.layout, problem_.n_rows, block, 0,
                                                problem_.n_rows, votes, problem_.follows);
        const double* cells = problem_.cells.block(block);
        auto* inside = inside_.make_room(problem_.n_rows);
        copy_where(cells, allowed, inside);
        const auto signs = signs_of(inside);
        std::vector<LabelBits> others(allowed.size());
        for (std::size_t i = 0; i < others.size(); ++i) others[i] = allowed[i] & signs[path_[i]];
        const auto better = larger_edge(cells, own, others);
        for (std::size_t i = 0; i < own.size(); ++i) {
            own[i] = static_cast<LabelBits>((own[i] & ~better) | (others[i] & better));
        }
        store(signs, block, better);
        for (std::size_t t = 0; t < label_lanes; ++t) {
            const auto label = problem_.layout.label(block * label_lanes + t);
            if (label != LabelLayout::no_label && (better & lane_bit(t)) != 0) {
                found_.top_down[label] = problem_.follows;
            }
        }
    }

    /// The votes of all leaves for the labels of a block, by the signs of the sums of cells.
    std::vector<LabelBits> signs_of(const double* cells) const {
        const auto totals = total_of(cells, problem_.n_rows);
        std::vector<double> sums(found_.n_leaves() * label_lanes, 0.0);
        for (std::size_t k = 0; k < problem_.n_rows * label_lanes; ++k) {
            sums[path_[k / label_lanes] * label_lanes + k % label_lanes] += cells[k];
        }
        std::vector<LabelBits> signs(found_.n_leaves(), 0);
        for (std::size_t k = 0; k < sums.size(); ++k) {
            const auto lane = k % label_lanes;
            if (sums[k] > totals.tolerance[lane]) signs[k / label_lanes] |= lane_bit(lane);
        }
        return signs;
    }

    void store(const std::vector<LabelBits>& signs, std::size_t block, LabelBits chosen) {
        for (std::size_t k = 0; k < signs.size() * label_lanes; ++k) {
            const auto bit = lane_bit(k % label_lanes);
            const auto label = problem_.layout.label(block * label_lanes + k % label_lanes);
            if (label == LabelLayout::no_label || (chosen & bit) == 0) continue;
            found_.signs[k / label_lanes * problem_.layout.n_labels() + label] =
                (signs[k / label_lanes] & bit) != 0 ? 1 : -1;
        }
    }

    const WeakProblem& problem_;
    unsigned n_threads_;
    StopSignal& signal_;
    WeakHypothesis& found_;
    std::vector<std::uint8_t> path_;  // the node of each row
    std::vector<std::uint8_t> right_;
    LabelBlocks masked_;
    BlockCells inside_;
};

}  // namespace

void learn_shared(const WeakProblem& problem, unsigned n_threads, StopSignal& signal,
                  WeakHypothesis& found, std::span<LabelBits> votes) {
    SharedLearner(problem, n_threads, signal, found).learn(votes);
}

}  // namespace ramify
