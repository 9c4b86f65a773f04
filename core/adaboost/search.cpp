#include "adaboost/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "adaboost/cells.hpp"

namespace ramify {

namespace {

/// The sum and the absolute sum of one label's cells over some rows.
struct CellSum {
    double sum = 0;
    double weight = 0;

    void add(const double* cells, std::size_t lane, std::uint32_t row) {
        const double cell = cells[row * label_lanes + lane];
        sum += cell;
        weight += std::fabs(cell);
    }
};

/// Completes the test that a scan chose for one label: the side of missing values and of each
/// category.
class TestCompleter {
  public:
    TestCompleter(const BoostingColumn& column, const double* cells, const LaneTotals& totals,
                  std::size_t lane)
        : column_(column), cells_(cells), lane_(lane), totals_(totals) {}

    void complete(BoostingTest& test) {
        CellSum right;
        CellSum listed;
        CellSum missing;
        if (column_.nominal) test.category_right.assign(column_.n_groups(), 0);
        std::size_t i = 0;
        for (std::size_t g = 0; g < column_.n_groups(); ++g) {
            CellSum group;
            for (; i < column_.ends[g]; ++i) group.add(cells_, lane_, column_.rows[i]);
            const bool goes_right =
                column_.nominal ? group.sum > totals_.tolerance[lane_] : g <= test.group;
            if (column_.nominal) test.category_right[g] = goes_right ? 1 : 0;
            if (goes_right) add(right, group);
            add(listed, group);
        }
        for (const auto row : column_.missing) missing.add(cells_, lane_, row);
        const CellSum known{totals_.sum[lane_] - missing.sum,
                            totals_.weight[lane_] - missing.weight};
        if (column_.zero_group <= test.group) {
            add(right, {known.sum - listed.sum, known.weight - listed.weight});
        }
        test.default_right = missing_goes_right(right, known, missing);
        send_empty_categories(test);
    }

  private:
    static void add(CellSum& to, const CellSum& part) {
        to.sum += part.sum;
        to.weight += part.weight;
    }
    /// Missing values go where they add more to the edge, or, if training had none, to the heavier
    /// side.
    bool missing_goes_right(const CellSum& right, const CellSum& known,
                            const CellSum& missing) const {
        if (column_.missing.empty()) {
            return 2 * right.weight > known.weight + totals_.tolerance[lane_];
        }
        const double left = known.sum - right.sum;
        const double with_right = std::fabs(right.sum + missing.sum) + std::fabs(left);
        const double with_left = std::fabs(right.sum) + std::fabs(left + missing.sum);
        return with_right > with_left + totals_.tolerance[lane_];
    }
    /// A category without training rows is treated as a missing value.
    void send_empty_categories(BoostingTest& test) const {
        for (std::size_t g = 0; g < test.category_right.size(); ++g) {
            if (column_.ends[g] == (g == 0 ? 0 : column_.ends[g - 1])) {
                test.category_right[g] = test.default_right ? 1 : 0;
            }
        }
    }

    const BoostingColumn& column_;
    const double* cells_;
    std::size_t lane_;
    const LaneTotals& totals_;
};

/// Grows the trees of one block of labels.
class BlockLearner {
  public:
    BlockLearner(const WeakProblem& problem, std::size_t block, StopSignal& signal,
                 WeakHypothesis& found)
        : problem_(problem),
          block_(block),
          cells_(problem.cells.block(block)),
          signal_(signal),
          found_(found),
          path_(problem.n_rows * label_lanes, 0),
          right_(problem.n_rows) {}

    void learn(std::span<std::int8_t> votes) {
        const auto totals = total_of(cells_, problem_.n_rows);
        for (std::size_t level = 0; level < problem_.depth; ++level) {
            next_path_.assign(path_.begin(), path_.end());
            for (std::size_t node = 0; node < (std::size_t{1} << level); ++node) {
                learn_node(level, node, totals);
            }
            path_.swap(next_path_);
        }
        vote(totals, votes);
    }

  private:
    void learn_node(std::size_t level, std::size_t node, const LaneTotals& root_totals) {
        const double* cells = cells_;
        LaneTotals totals = root_totals;
        if (level > 0) {
            masked_.resize(path_.size());
            copy_node(
                cells_, problem_.n_rows, node,
                [&](std::size_t i, std::size_t t) { return path_[i * label_lanes + t]; },
                masked_.data());
            cells = masked_.data();
            totals = total_of(cells, problem_.n_rows);
        }
        auto tests = search(cells, totals);
        const auto at = ((std::size_t{1} << level) - 1 + node) * found_.n_tested;
        for (std::size_t t = 0; t < label_lanes; ++t) {
            if (label(t) == LabelLayout::no_label) continue;
            send(tests[t], t, node);
            found_.tests[at + label(t)] = std::move(tests[t]);
        }
    }

    /// Columns are compared in order, each with its best threshold.
    std::array<BoostingTest, label_lanes> search(const double* cells, const LaneTotals& totals) {
        std::array<BoostingTest, label_lanes> tests;
        double limit[label_lanes];
        for (std::size_t t = 0; t < label_lanes; ++t) {
            limit[t] = std::fabs(totals.sum[t]) + totals.tolerance[t];
        }
        LaneBest best;
        for (std::size_t f = 0; f < problem_.columns.size(); ++f) {
            signal_.check();
            scan_column(problem_.columns[f], cells, totals, best);
            for (std::size_t t = 0; t < label_lanes; ++t) {
                if (best.group[t] < 0 || !(best.score[t] > limit[t])) continue;
                limit[t] = best.score[t] + totals.tolerance[t];
                tests[t].feature = static_cast<std::int32_t>(f);
                tests[t].group = static_cast<std::size_t>(best.group[t]);
            }
        }
        for (std::size_t t = 0; t < label_lanes; ++t) {
            if (tests[t].feature < 0) continue;
            const auto& column = problem_.columns[static_cast<std::size_t>(tests[t].feature)];
            if (!column.nominal) tests[t].threshold = column.thresholds[tests[t].group];
            TestCompleter(column, cells, totals, t).complete(tests[t]);
        }
        return tests;
    }

    /// Moves the rows of a node to its children for one label; without a test all rows go left.
    void send(const BoostingTest& test, std::size_t lane, std::size_t node) {
        if (test.feature < 0) {
            std::ranges::fill(right_, std::uint8_t{0});
        } else {
            mark_right(problem_.columns[static_cast<std::size_t>(test.feature)], test, right_);
        }
        for (std::size_t i = 0; i < problem_.n_rows; ++i) {
            const auto k = i * label_lanes + lane;
            if (path_[k] == node) next_path_[k] = static_cast<std::uint8_t>(2 * node + right_[i]);
        }
    }

    /// A leaf votes by the sign of the sum of its cells.
    void vote(const LaneTotals& totals, std::span<std::int8_t> votes) {
        std::vector<double> sums(found_.n_leaves() * label_lanes, 0.0);
        for (std::size_t k = 0; k < path_.size(); ++k) {
            sums[path_[k] * label_lanes + k % label_lanes] += cells_[k];
        }
        std::vector<std::int8_t> signs(sums.size());
        for (std::size_t k = 0; k < sums.size(); ++k) {
            signs[k] = sums[k] > totals.tolerance[k % label_lanes] ? 1 : -1;
        }
        for (std::size_t leaf = 0; leaf < found_.n_leaves(); ++leaf) {
            for (std::size_t t = 0; t < label_lanes; ++t) {
                if (label(t) == LabelLayout::no_label) continue;
                found_.signs[leaf * problem_.layout.n_labels() + label(t)] =
                    signs[leaf * label_lanes + t];
            }
        }
        auto* out = votes.data() + block_ * path_.size();
        for (std::size_t k = 0; k < path_.size(); ++k) {
            out[k] = signs[path_[k] * label_lanes + k % label_lanes];
        }
    }

    std::size_t label(std::size_t lane) const {
        return problem_.layout.label(block_ * label_lanes + lane);
    }

    const WeakProblem& problem_;
    std::size_t block_;
    const double* cells_;
    StopSignal& signal_;
    WeakHypothesis& found_;
    std::vector<std::uint8_t> path_;  // the node of each row and label
    std::vector<std::uint8_t> next_path_;
    std::vector<std::uint8_t> right_;
    std::vector<double> masked_;
};

}  // namespace

LabelLayout::LabelLayout(std::vector<std::vector<std::uint32_t>> parents)
    : parents_(std::move(parents)), lane_(parents_.size()) {
    std::vector<std::size_t> level(parents_.size(), 0);
    std::size_t n_levels = 0;
    for (std::size_t j = 0; j < parents_.size(); ++j) {
        for (const auto parent : parents_[j]) level[j] = std::max(level[j], level[parent] + 1);
        n_levels = std::max(n_levels, level[j] + 1);
    }
    for (std::size_t v = 0; v < n_levels; ++v) {
        for (std::size_t j = 0; j < parents_.size(); ++j) {
            if (level[j] != v) continue;
            lane_[j] = label_.size();
            label_.push_back(j);
        }
        while (label_.size() % label_lanes != 0) label_.push_back(no_label);
    }
}

LabelBlocks::LabelBlocks(std::size_t n_rows, std::size_t n_blocks)
    : n_rows_(n_rows), n_blocks_(n_blocks) {
    cells_.reset(static_cast<double*>(::operator new[](size() * sizeof(double), cache_line)));
    std::fill_n(cells_.get(), size(), 0.0);
}

WeakHypothesis empty_hypothesis(std::size_t depth, std::size_t n_labels, bool shared) {
    WeakHypothesis found;
    found.depth = depth;
    found.n_tested = shared ? 1 : n_labels;
    found.tests.resize(found.n_nodes() * found.n_tested);
    found.signs.assign(found.n_leaves() * n_labels, -1);
    return found;
}

void learn_block(const WeakProblem& problem, std::size_t block, StopSignal& signal,
                 WeakHypothesis& found, std::span<std::int8_t> votes) {
    BlockLearner(problem, block, signal, found).learn(votes);
}

}  // namespace ramify
