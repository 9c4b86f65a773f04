#include "adaboost/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace ramify {

namespace {

/// Completes the tests that a search chose for the labels of a block, and sends all rows to a
/// side.
class TestCompleter {
  public:
    TestCompleter(std::span<const BoostingColumn> columns, const double* cells,
                  const LaneTotals& totals, std::size_t n_rows)
        : columns_(columns), cells_(cells), totals_(totals), right_(n_rows), missing_(n_rows) {}

    /// Sets the sides of missing values and of categories, and finds the sums on the right.
    void complete(std::array<BoostingTest, label_lanes>& tests) {
        LabelBits base = 0;
        bool any_missing = false;
        for (std::size_t t = 0; t < label_lanes; ++t) {
            if (tests[t].feature < 0) continue;
            const auto& column = column_of(tests[t]);
            any_missing = any_missing || !column.missing.empty();
            if (most_go_right(column, tests[t])) base |= lane_bit(t);
        }
        std::ranges::fill(right_, base);
        if (any_missing) std::ranges::fill(missing_, LabelBits{0});
        for (std::size_t t = 0; t < label_lanes; ++t) {
            if (tests[t].feature >= 0) send(tests[t], t, base);
        }
        sums_ = sums_where(cells_, right_);
        const auto missing = any_missing ? sums_where(cells_, missing_) : LaneSums{};
        LabelBits default_right = 0;
        for (std::size_t t = 0; t < label_lanes; ++t) {
            auto& test = tests[t];
            if (test.feature < 0) continue;
            test.default_right = missing_goes_right(column_of(test), missing, t);
            send_empty_categories(test);
            if (!test.default_right) continue;
            default_right |= lane_bit(t);
            sums_.sum[t] += missing.sum[t];
        }
        if (!any_missing) return;
        for (std::size_t i = 0; i < right_.size(); ++i) {
            right_[i] |= static_cast<LabelBits>(missing_[i] & default_right);
        }
    }

    /// The labels whose tests send a row right.
    std::span<const LabelBits> right() const { return right_; }
    double right_sum(std::size_t lane) const { return sums_.sum[lane]; }

  private:
    const BoostingColumn& column_of(const BoostingTest& test) const {
        return columns_[static_cast<std::size_t>(test.feature)];
    }

    /// Whether rows go right unless `send` lists them: the larger part, if all rows are listed.
    static bool most_go_right(const BoostingColumn& column, const BoostingTest& test) {
        if (column.nominal) return false;
        if (column.zero_group != BoostingColumn::no_group) return column.zero_group <= test.group;
        return 2 * column.ends[test.group] > column.rows.size();
    }

    void send(BoostingTest& test, std::size_t lane, LabelBits base) {
        const auto& column = column_of(test);
        const LabelBits bit = lane_bit(lane);
        if (column.nominal) {
            choose_categories(column, lane, test);
            for (std::size_t g = 0; g < column.n_groups(); ++g) {
                if (test.category_right[g]) flip(column, column.begin(g), column.ends[g], bit);
            }
        } else {
            test.threshold = column.thresholds[test.group];
            const std::size_t end = column.ends[test.group];
            const bool listed_right = (base & bit) == 0;
            flip(column, listed_right ? 0 : end, listed_right ? end : column.rows.size(), bit);
        }
        for (const auto row : column.missing) {
            right_[row] &= static_cast<LabelBits>(~bit);
            missing_[row] |= bit;
        }
    }

    void flip(const BoostingColumn& column, std::size_t begin, std::size_t end, LabelBits bit) {
        for (auto i = begin; i < end; ++i) right_[column.rows[i]] ^= bit;
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
    bool missing_goes_right(const BoostingColumn& column, const LaneSums& missing,
                            std::size_t lane) const {
        const double tolerance = totals_.tolerance[lane];
        if (column.missing.empty()) {
            return 2 * sums_.weight[lane] > totals_.weight[lane] + tolerance;
        }
        const double right = sums_.sum[lane];
        const double left = totals_.sum[lane] - missing.sum[lane] - right;
        const double with_right = std::fabs(right + missing.sum[lane]) + std::fabs(left);
        const double with_left = std::fabs(right) + std::fabs(left + missing.sum[lane]);
        return with_right > with_left + tolerance;
    }

    /// A category without training rows is treated as a missing value.
    void send_empty_categories(BoostingTest& test) const {
        const auto& column = column_of(test);
        for (std::size_t g = 0; g < test.category_right.size(); ++g) {
            if (column.begin(g) == column.ends[g]) {
                test.category_right[g] = test.default_right ? 1 : 0;
            }
        }
    }

    std::span<const BoostingColumn> columns_;
    const double* cells_;
    const LaneTotals& totals_;
    std::vector<LabelBits> right_;
    std::vector<LabelBits> missing_;
    LaneSums sums_;
};

using LaneEdges = std::array<double, label_lanes>;

/// Trees of the labels of one block, and their votes for all training rows.
struct BlockTrees {
    std::vector<std::array<BoostingTest, label_lanes>> tests;  // per node, level by level
    std::vector<LabelBits> signs;                              // per leaf
    std::vector<LabelBits> votes;                              // per row
    LaneEdges edges{};
};

/// Finds the best test of each label of a block. Columns are compared in order, each with its best
/// threshold: those that may have the largest edge of a label, by bounds that take less time.
class BlockSearch {
  public:
    /// `needed`: edges below it are of no use.
    BlockSearch(std::span<const BoostingColumn> columns, const double* cells,
                const LaneTotals& totals, const LaneEdges& needed, BlockScratch& scratch)
        : columns_(columns), cells_(cells), totals_(totals), scratch_(scratch) {
        for (std::size_t t = 0; t < label_lanes; ++t) {
            limit_[t] = std::fabs(totals.sum[t]) + totals.tolerance[t];
            least_[t] = std::max(limit_[t], needed[t]);
        }
    }

    void find(std::size_t n_rows, StopSignal& signal,
              std::array<BoostingTest, label_lanes>& tests) {
        bool possible = false;
        for (std::size_t t = 0; t < label_lanes; ++t) {
            possible = possible || least_[t] < totals_.weight[t];
        }
        if (!possible) return;
        scratch_.rough.copy(cells_, totals_, n_rows);
        scratch_.bounds.resize(columns_.size());
        for (std::size_t f = 0; f < columns_.size(); ++f) {
            signal.check();
            bound(columns_[f], scratch_.bounds[f]);
            for (std::size_t t = 0; t < label_lanes; ++t) {
                least_[t] = std::max(least_[t], scratch_.bounds[f].lower[t]);
            }
        }
        for (std::size_t f = 0; f < columns_.size(); ++f) compare(f, tests);
    }

  private:
    void bound(const BoostingColumn& column, LaneBounds& bounds) {
        if (!column.nominal) {
            bound_column(column, scratch_.rough, cells_, totals_, bounds);
            return;
        }
        LaneBest best;
        scan_column(column, cells_, totals_, best);
        for (std::size_t t = 0; t < label_lanes; ++t) {
            bounds.lower[t] = best.score[t] - 2 * totals_.tolerance[t];  // ties are looked at
            bounds.upper[t] = best.score[t];
        }
    }

    /// Takes the tests of a column that are better than those before.
    void compare(std::size_t f, std::array<BoostingTest, label_lanes>& tests) {
        const auto& upper = scratch_.bounds[f].upper;
        std::size_t n_close = 0;
        for (std::size_t t = 0; t < label_lanes; ++t) n_close += upper[t] >= least_[t] ? 1 : 0;
        if (n_close == 0) return;
        const auto& column = columns_[f];
        LaneBest best;
        const bool all = n_close > 4;  // all labels take as long as a few
        if (all) scan_column(column, cells_, totals_, best);
        for (std::size_t t = 0; t < label_lanes; ++t) {
            if (!(upper[t] >= least_[t])) continue;
            if (!all) scan_column(column, cells_, totals_, t, best);
            if (best.group[t] < 0 || !(best.score[t] > limit_[t])) continue;
            limit_[t] = best.score[t] + totals_.tolerance[t];
            tests[t].feature = static_cast<std::int32_t>(f);
            tests[t].group = static_cast<std::size_t>(best.group[t]);
        }
    }

    std::span<const BoostingColumn> columns_;
    const double* cells_;
    const LaneTotals& totals_;
    BlockScratch& scratch_;
    double limit_[label_lanes];  // edges up to it are no better than those before
    double least_[label_lanes];  // edges below it are not the largest
};

/// Grows the trees of one block of labels.
class BlockLearner {
  public:
    BlockLearner(const WeakProblem& problem, const double* cells, StopSignal& signal,
                 BlockScratch& scratch)
        : problem_(problem),
          cells_(cells),
          totals_(total_of(cells, problem.n_rows)),
          needed_{},
          signal_(signal),
          scratch_(scratch),
          inside_(problem.n_rows) {
        found_.tests.resize((std::size_t{1} << problem.depth) - 1);
        found_.signs.assign(std::size_t{1} << problem.depth, 0);
        found_.votes.assign(problem.n_rows, 0);
    }

    const LaneTotals& totals() const { return totals_; }
    /// Trees with a smaller edge are of no use, and need not be the best.
    void require(const LaneEdges& edges) {
        if (problem_.depth == 1) needed_ = edges;
    }

    BlockTrees learn() {
        for (std::size_t level = 0; level < problem_.depth; ++level) {
            right_.emplace_back(problem_.n_rows, LabelBits{0});
            for (std::size_t node = 0; node < (std::size_t{1} << level); ++node) {
                learn_node(level, node);
            }
        }
        return std::move(found_);
    }

  private:
    void learn_node(std::size_t level, std::size_t node) {
        const double* cells = cells_;
        LaneTotals totals = totals_;
        find_inside(level, node);
        if (level > 0) {
            auto* masked = scratch_.masked.make_room(problem_.n_rows);
            copy_where(cells_, inside_, masked);
            cells = masked;
            totals = total_of(cells, problem_.n_rows);
        }
        auto& tests = found_.tests[(std::size_t{1} << level) - 1 + node];
        BlockSearch(problem_.columns, cells, totals, needed_, scratch_)
            .find(problem_.n_rows, signal_, tests);
        TestCompleter completer(problem_.columns, cells, totals, problem_.n_rows);
        completer.complete(tests);
        const auto right = completer.right();
        for (std::size_t i = 0; i < right.size(); ++i) {
            right_[level][i] |= static_cast<LabelBits>(right[i] & inside_[i]);
        }
        if (level + 1 == problem_.depth) vote(node, totals, completer);
    }

    /// Sets the bits of the labels for which a row reaches a node.
    void find_inside(std::size_t level, std::size_t node) {
        std::ranges::fill(inside_, static_cast<LabelBits>(-1));
        for (std::size_t v = 0; v < level; ++v) {
            const bool is_right = (node >> (level - 1 - v) & 1) != 0;
            const auto flipped = static_cast<LabelBits>(is_right ? 0 : -1);
            for (std::size_t i = 0; i < inside_.size(); ++i) {
                inside_[i] &= static_cast<LabelBits>(right_[v][i] ^ flipped);
            }
        }
    }

    /// The two leaves below a node vote by the signs of the sums of their cells.
    void vote(std::size_t node, const LaneTotals& totals, const TestCompleter& completer) {
        auto& left = found_.signs[2 * node];
        auto& right = found_.signs[2 * node + 1];
        for (std::size_t t = 0; t < label_lanes; ++t) {
            const double sum = completer.right_sum(t);
            const double other = totals.sum[t] - sum;
            if (sum > totals_.tolerance[t]) right |= lane_bit(t);
            if (other > totals_.tolerance[t]) left |= lane_bit(t);
            found_.edges[t] += std::fabs(sum) + std::fabs(other);
        }
        const auto goes_right = completer.right();
        for (std::size_t i = 0; i < goes_right.size(); ++i) {
            const int votes = (goes_right[i] & right) | (~goes_right[i] & left);
            found_.votes[i] |= static_cast<LabelBits>(votes & inside_[i]);
        }
    }

    const WeakProblem& problem_;
    const double* cells_;
    LaneTotals totals_;
    LaneEdges needed_;
    StopSignal& signal_;
    BlockScratch& scratch_;
    BlockTrees found_;
    std::vector<LabelBits> inside_;              // the labels for which a row reaches the node
    std::vector<std::vector<LabelBits>> right_;  // per level: those for which it goes right
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
        const bool positive = (trees.signs[leaf] & lane_bit(lane)) != 0;
        found.signs[leaf * problem.layout.n_labels() + label] = positive ? 1 : -1;
    }
}

/// Grows trees on the rows whose parents allow a positive vote, and replaces those with a smaller
/// edge.
void improve_below_parents(const WeakProblem& problem, std::size_t block, StopSignal& signal,
                           BlockScratch& scratch, WeakHypothesis& found,
                           std::span<const LabelBits> votes, const LaneTotals& totals,
                           BlockTrees& first) {
    const auto allowed = allowed_by_parents(problem.layout, problem.n_rows, block, 0,
                                            problem.n_rows, votes, problem.follows);
    const double* cells = problem.cells.block(block);
    auto* inside = scratch.inside.make_room(problem.n_rows);
    copy_where(cells, allowed, inside);
    BlockLearner learner(problem, inside, signal, scratch);
    LaneEdges needed;
    for (std::size_t t = 0; t < label_lanes; ++t) {
        const double outside = learner.totals().sum[t] - totals.sum[t];  // all votes negative
        needed[t] = first.edges[t] - outside - 2 * totals.tolerance[t];
    }
    learner.require(needed);
    auto trees = learner.learn();
    for (std::size_t i = 0; i < allowed.size(); ++i) trees.votes[i] &= allowed[i];
    const auto better = larger_edge(cells, first.votes, trees.votes);
    for (std::size_t i = 0; i < allowed.size(); ++i) {
        const int own = (first.votes[i] & ~better) | (trees.votes[i] & better);
        first.votes[i] = static_cast<LabelBits>(own);
    }
    for (std::size_t t = 0; t < label_lanes; ++t) {
        const auto label = problem.layout.label(block * label_lanes + t);
        if (label == LabelLayout::no_label || (better & lane_bit(t)) == 0) continue;
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

std::vector<LabelBits> allowed_by_parents(const LabelLayout& layout, std::size_t n_rows,
                                          std::size_t block, std::size_t begin, std::size_t end,
                                          std::span<const LabelBits> marks,
                                          FollowsParents follows) {
    std::map<std::size_t, LabelBits> children;  // of the block, per parent
    LabelBits any_parents = 0;
    for (std::size_t t = 0; t < label_lanes; ++t) {
        const auto label = layout.label(block * label_lanes + t);
        if (label == LabelLayout::no_label) continue;
        for (const auto parent : layout.parents(label)) {
            children[layout.lane(parent)] |= lane_bit(t);
            any_parents |= lane_bit(t);
        }
    }
    const bool each = follows != follows_all;
    const auto start = static_cast<LabelBits>(each ? -1 : ~any_parents);
    std::vector<LabelBits> allowed(end - begin, start);
    for (const auto& [lane, own] : children) {
        const auto* mark = marks.data() + lane / label_lanes * n_rows + begin;
        const auto bit = lane_bit(lane % label_lanes);
        for (std::size_t i = 0; i < allowed.size(); ++i) {
            const auto if_set = static_cast<LabelBits>((mark[i] & bit) != 0 ? own : 0);
            allowed[i] =
                static_cast<LabelBits>(each ? allowed[i] & (if_set | ~own) : allowed[i] | if_set);
        }
    }
    return allowed;
}

void learn_block(const WeakProblem& problem, std::size_t block, StopSignal& signal,
                 BlockScratch& scratch, WeakHypothesis& found, std::span<LabelBits> votes) {
    BlockLearner learner(problem, problem.cells.block(block), signal, scratch);
    auto trees = learner.learn();
    for (std::size_t t = 0; t < label_lanes; ++t) store(trees, problem, block, t, found);
    const bool has_parents = block >= problem.layout.level_blocks()[1];
    if (problem.best_of_two && has_parents) {
        improve_below_parents(problem, block, signal, scratch, found, votes, learner.totals(),
                              trees);
    }
    std::ranges::copy(trees.votes,
                      votes.begin() + static_cast<std::ptrdiff_t>(block * problem.n_rows));
}

}  // namespace ramify
