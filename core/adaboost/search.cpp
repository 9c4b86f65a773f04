#include "adaboost/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "adaboost/cells.hpp"

namespace ramify {

namespace {

enum Side : std::uint8_t { left_side = 0, right_side = 1, missing_side = 2 };

/// Completes the tests that a scan chose for the labels of a block, and sends all rows to a side.
class TestCompleter {
  public:
    TestCompleter(std::span<const BoostingColumn> columns, const double* cells,
                  const LaneTotals& totals, std::size_t n_rows)
        : columns_(columns), cells_(cells), totals_(totals), n_rows_(n_rows) {}

    /// Sets the sides of missing values and of categories. Afterwards, `side` has the side of each
    /// row and lane; without a test all rows go left.
    void complete(std::array<BoostingTest, label_lanes>& tests, std::vector<std::uint8_t>& side) {
        side.assign(n_rows_ * label_lanes, left_side);
        bool any_missing = false;
        for (std::size_t t = 0; t < label_lanes; ++t) {
            if (tests[t].feature < 0) continue;
            send(tests[t], t, side.data());
            any_missing = any_missing || !column_of(tests[t]).missing.empty();
        }
        const auto right = sums_where(cells_, side.data(), right_side, n_rows_);
        const auto missing =
            any_missing ? sums_where(cells_, side.data(), missing_side, n_rows_) : LaneSums{};
        std::uint8_t default_side[label_lanes] = {};
        for (std::size_t t = 0; t < label_lanes; ++t) {
            auto& test = tests[t];
            if (test.feature < 0) continue;
            test.default_right = missing_goes_right(column_of(test), right, missing, t);
            default_side[t] = test.default_right ? right_side : left_side;
            send_empty_categories(test);
        }
        if (!any_missing) return;
        for (std::size_t k = 0; k < side.size(); ++k) {
            if (side[k] == missing_side) side[k] = default_side[k % label_lanes];
        }
    }

  private:
    const BoostingColumn& column_of(const BoostingTest& test) const {
        return columns_[static_cast<std::size_t>(test.feature)];
    }

    void send(BoostingTest& test, std::size_t lane, std::uint8_t* side) {
        const auto& column = column_of(test);
        if (column.nominal) {
            choose_categories(column, lane, test);
        } else {
            test.threshold = column.thresholds[test.group];
        }
        const bool zeros_right = !column.nominal && column.zero_group <= test.group;
        if (zeros_right) {
            for (std::size_t i = 0; i < n_rows_; ++i) side[i * label_lanes + lane] = right_side;
        }
        const auto base = zeros_right ? right_side : left_side;
        std::size_t i = 0;
        for (std::size_t g = 0; g < column.n_groups(); ++g) {
            const bool goes_right = column.nominal ? test.category_right[g] != 0 : g <= test.group;
            const auto own = goes_right ? right_side : left_side;
            if (own == base) {
                i = column.ends[g];
                continue;
            }
            for (; i < column.ends[g]; ++i) side[column.rows[i] * label_lanes + lane] = own;
        }
        for (const auto row : column.missing) side[row * label_lanes + lane] = missing_side;
    }

    /// Every category goes to the side of its sign.
    void choose_categories(const BoostingColumn& column, std::size_t lane,
                           BoostingTest& test) const {
        test.category_right.assign(column.n_groups(), 0);
        std::size_t i = 0;
        for (std::size_t g = 0; g < column.n_groups(); ++g) {
            double sum = 0;
            for (; i < column.ends[g]; ++i) sum += cells_[column.rows[i] * label_lanes + lane];
            test.category_right[g] = sum > totals_.tolerance[lane] ? 1 : 0;
        }
    }

    /// Missing values go where they add more to the edge, or, if training had none, to the heavier
    /// side.
    bool missing_goes_right(const BoostingColumn& column, const LaneSums& right,
                            const LaneSums& missing, std::size_t lane) const {
        const double tolerance = totals_.tolerance[lane];
        if (column.missing.empty()) {
            return 2 * right.weight[lane] > totals_.weight[lane] + tolerance;
        }
        const double left = totals_.sum[lane] - missing.sum[lane] - right.sum[lane];
        const double with_right = std::fabs(right.sum[lane] + missing.sum[lane]) + std::fabs(left);
        const double with_left = std::fabs(right.sum[lane]) + std::fabs(left + missing.sum[lane]);
        return with_right > with_left + tolerance;
    }

    /// A category without training rows is treated as a missing value.
    void send_empty_categories(BoostingTest& test) const {
        const auto& column = column_of(test);
        for (std::size_t g = 0; g < test.category_right.size(); ++g) {
            if (column.ends[g] == (g == 0 ? 0 : column.ends[g - 1])) {
                test.category_right[g] = test.default_right ? 1 : 0;
            }
        }
    }

    std::span<const BoostingColumn> columns_;
    const double* cells_;
    const LaneTotals& totals_;
    std::size_t n_rows_;
};

/// Trees of the labels of one block, and their votes for all training rows.
struct BlockTrees {
    std::vector<std::array<BoostingTest, label_lanes>> tests;  // per node, level by level
    std::vector<std::int8_t> signs;                            // per leaf and lane
    std::vector<std::int8_t> votes;                            // per row and lane
};

/// The rows of a block that have a cell other than 0. Searching only these gives the same tests,
/// and takes less time the fewer they are.
class ActiveRows {
  public:
    ActiveRows(const double* cells, std::size_t n_rows) : number_(n_rows, inactive) {
        for (std::size_t i = 0; i < n_rows; ++i) {
            const double* row = cells + i * label_lanes;
            if (std::all_of(row, row + label_lanes, [](double cell) { return cell == 0; })) {
                continue;
            }
            number_[i] = static_cast<std::uint32_t>(rows_.size());
            rows_.push_back(static_cast<std::uint32_t>(i));
        }
    }
    /// Whether so many rows are left out that filtering the columns pays.
    bool worthwhile() const { return rows_.size() < number_.size() / 3; }

    void copy_cells(const double* cells) {
        cells_.resize(rows_.size() * label_lanes);
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            std::copy_n(cells + rows_[k] * label_lanes, label_lanes,
                        cells_.data() + k * label_lanes);
        }
    }
    void scan(const BoostingColumn& column, const LaneTotals& totals, LaneBest& best) {
        filter(column);
        scan_column(filtered_, cells_.data(), totals, best);
        if (column.nominal) return;
        for (double& group : best.group) {
            if (group >= 0) group = static_cast<double>(groups_[static_cast<std::size_t>(group)]);
        }
    }

  private:
    static constexpr std::uint32_t inactive = static_cast<std::uint32_t>(-1);

    /// Leaves out groups without active rows: the test below such a group is the one above it.
    void filter(const BoostingColumn& column) {
        filtered_.nominal = column.nominal;
        filtered_.zero_group = BoostingColumn::no_group;
        filtered_.ends.clear();
        groups_.clear();
        filtered_.rows.resize(column.rows.size());
        std::size_t n = 0;
        std::size_t i = 0;
        for (std::size_t g = 0; g < column.n_groups(); ++g) {
            const std::size_t before = n;
            for (; i < column.ends[g]; ++i) {
                const std::uint32_t row = number_[column.rows[i]];
                filtered_.rows[n] = row;
                n += row != inactive ? 1 : 0;
            }
            if (g == column.zero_group) filtered_.zero_group = groups_.size();
            if (n == before && !column.nominal && g != column.zero_group) continue;
            filtered_.ends.push_back(static_cast<std::uint32_t>(n));
            groups_.push_back(g);
        }
        filtered_.rows.resize(n);
        filtered_.missing.clear();
        for (const auto row : column.missing) {
            if (number_[row] != inactive) filtered_.missing.push_back(number_[row]);
        }
    }

    std::vector<std::uint32_t> number_;  // per row
    std::vector<std::uint32_t> rows_;
    std::vector<double> cells_;
    BoostingColumn filtered_;
    std::vector<std::size_t> groups_;  // of the column, per group of filtered_
};

/// Grows the trees of one block of labels.
class BlockLearner {
  public:
    BlockLearner(const WeakProblem& problem, const double* cells, StopSignal& signal)
        : problem_(problem),
          cells_(cells),
          signal_(signal),
          path_(problem.n_rows * label_lanes, 0) {}

    BlockTrees learn() {
        const auto totals = total_of(cells_, problem_.n_rows);
        found_.tests.resize((std::size_t{1} << problem_.depth) - 1);
        for (std::size_t level = 0; level < problem_.depth; ++level) {
            next_path_.assign(path_.begin(), path_.end());
            for (std::size_t node = 0; node < (std::size_t{1} << level); ++node) {
                learn_node(level, node, totals);
            }
            path_.swap(next_path_);
        }
        vote(totals);
        return std::move(found_);
    }

  private:
    void learn_node(std::size_t level, std::size_t node, const LaneTotals& root_totals) {
        const double* cells = cells_;
        LaneTotals totals = root_totals;
        if (level > 0) {
            masked_.resize(path_.size());
            copy_where(cells_, path_.data(), static_cast<std::uint8_t>(node), problem_.n_rows,
                       masked_.data());
            cells = masked_.data();
            totals = total_of(cells, problem_.n_rows);
        }
        auto& tests = found_.tests[(std::size_t{1} << level) - 1 + node];
        search(cells, totals, tests);
        TestCompleter(problem_.columns, cells, totals, problem_.n_rows).complete(tests, side_);
        for (std::size_t k = 0; k < path_.size(); ++k) {
            next_path_[k] =
                path_[k] == node ? static_cast<std::uint8_t>(2 * node + side_[k]) : next_path_[k];
        }
    }

    /// Columns are compared in order, each with its best threshold.
    void search(const double* cells, const LaneTotals& totals,
                std::array<BoostingTest, label_lanes>& tests) {
        double limit[label_lanes];
        for (std::size_t t = 0; t < label_lanes; ++t) {
            limit[t] = std::fabs(totals.sum[t]) + totals.tolerance[t];
        }
        ActiveRows active(cells, problem_.n_rows);
        const bool filtered = active.worthwhile();
        if (filtered) active.copy_cells(cells);
        LaneBest best;
        for (std::size_t f = 0; f < problem_.columns.size(); ++f) {
            signal_.check();
            if (filtered) {
                active.scan(problem_.columns[f], totals, best);
            } else {
                scan_column(problem_.columns[f], cells, totals, best);
            }
            for (std::size_t t = 0; t < label_lanes; ++t) {
                if (best.group[t] < 0 || !(best.score[t] > limit[t])) continue;
                limit[t] = best.score[t] + totals.tolerance[t];
                tests[t].feature = static_cast<std::int32_t>(f);
                tests[t].group = static_cast<std::size_t>(best.group[t]);
            }
        }
    }

    /// A leaf votes by the sign of the sum of its cells.
    void vote(const LaneTotals& totals) {
        const std::size_t n_leaves = std::size_t{1} << problem_.depth;
        found_.signs.resize(n_leaves * label_lanes);
        for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
            const auto sums =
                sums_where(cells_, path_.data(), static_cast<std::uint8_t>(leaf), problem_.n_rows);
            for (std::size_t t = 0; t < label_lanes; ++t) {
                found_.signs[leaf * label_lanes + t] = sums.sum[t] > totals.tolerance[t] ? 1 : -1;
            }
        }
        found_.votes.resize(path_.size());
        for (std::size_t i = 0; i < problem_.n_rows; ++i) {
            for (std::size_t t = 0; t < label_lanes; ++t) {
                const auto k = i * label_lanes + t;
                found_.votes[k] = found_.signs[path_[k] * label_lanes + t];
            }
        }
    }

    const WeakProblem& problem_;
    const double* cells_;
    StopSignal& signal_;
    BlockTrees found_;
    std::vector<std::uint8_t> path_;  // the node of each row and label
    std::vector<std::uint8_t> next_path_;
    std::vector<std::uint8_t> side_;
    std::vector<double> masked_;
};

/// Stores the tree of one label, without its votes.
void store(BlockTrees& trees, const WeakProblem& problem, std::size_t block, std::size_t lane,
           WeakHypothesis& found) {
    const auto label = problem.layout.label(block * label_lanes + lane);
    if (label == LabelLayout::no_label) return;
    for (std::size_t node = 0; node < trees.tests.size(); ++node) {
        found.tests[node * found.n_tested + label] = std::move(trees.tests[node][lane]);
    }
    for (std::size_t leaf = 0; leaf < found.n_leaves(); ++leaf) {
        found.signs[leaf * problem.layout.n_labels() + label] =
            trees.signs[leaf * label_lanes + lane];
    }
}

/// Grows trees on the rows whose parents allow a positive vote, and replaces those with a smaller
/// edge.
void improve_below_parents(const WeakProblem& problem, std::size_t block, StopSignal& signal,
                           WeakHypothesis& found, std::span<std::int8_t> votes) {
    const auto allowed = allowed_by_parents(problem, block, votes);
    const double* cells = problem.cells.block(block);
    std::vector<double> inside(allowed.size());
    copy_where(cells, allowed.data(), 1, problem.n_rows, inside.data());
    auto trees = BlockLearner(problem, inside.data(), signal).learn();
    for (std::size_t k = 0; k < allowed.size(); ++k) {
        trees.votes[k] = allowed[k] ? trees.votes[k] : std::int8_t{-1};
    }
    auto* own_votes = votes.data() + block * allowed.size();
    const auto better = larger_edge(cells, problem.n_rows, own_votes, trees.votes.data());
    for (std::size_t k = 0; k < allowed.size(); ++k) {
        own_votes[k] = better[k % label_lanes] ? trees.votes[k] : own_votes[k];
    }
    for (std::size_t t = 0; t < label_lanes; ++t) {
        const auto label = problem.layout.label(block * label_lanes + t);
        if (label == LabelLayout::no_label || !better[t]) continue;
        store(trees, problem, block, t, found);
        found.top_down[label] = problem.follows;
    }
}

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
        level_blocks_.push_back(n_blocks());
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
    found.top_down.assign(n_labels, 0);
    return found;
}

std::vector<std::int8_t> above_label(const LabelLayout& layout, const LabelBlocks& cells,
                                     std::size_t label, std::size_t begin, std::size_t end,
                                     std::span<const std::int8_t> marks, FollowsParents follows) {
    const auto& parents = layout.parents(label);
    const bool largest = follows == follows_all && !parents.empty();
    std::vector<std::int8_t> above(end - begin, largest ? std::int8_t{-1} : std::int8_t{1});
    for (const auto parent : parents) {
        const auto* mark = marks.data() + cells.place(begin, layout.lane(parent));
        for (std::size_t i = 0; i < above.size(); ++i) {
            const auto own = mark[i * label_lanes];
            above[i] = largest ? std::max(above[i], own) : std::min(above[i], own);
        }
    }
    return above;
}

std::vector<std::uint8_t> allowed_by_parents(const WeakProblem& problem, std::size_t block,
                                             std::span<const std::int8_t> votes) {
    std::vector<std::uint8_t> allowed(problem.n_rows * label_lanes, 1);
    for (std::size_t t = 0; t < label_lanes; ++t) {
        const auto label = problem.layout.label(block * label_lanes + t);
        if (label == LabelLayout::no_label) continue;
        const auto above = above_label(problem.layout, problem.cells, label, 0, problem.n_rows,
                                       votes, problem.follows);
        for (std::size_t i = 0; i < above.size(); ++i) {
            allowed[i * label_lanes + t] = above[i] > 0 ? 1 : 0;
        }
    }
    return allowed;
}

void learn_block(const WeakProblem& problem, std::size_t block, StopSignal& signal,
                 WeakHypothesis& found, std::span<std::int8_t> votes) {
    auto trees = BlockLearner(problem, problem.cells.block(block), signal).learn();
    for (std::size_t t = 0; t < label_lanes; ++t) store(trees, problem, block, t, found);
    std::ranges::copy(trees.votes, votes.data() + block * trees.votes.size());
    const bool has_parents = block >= problem.layout.level_blocks()[1];
    if (problem.best_of_two && has_parents) {
        improve_below_parents(problem, block, signal, found, votes);
    }
}

}  // namespace ramify
