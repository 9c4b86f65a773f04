#include "tree/predict.hpp"

#include <algorithm>

namespace ramify {

namespace {

constexpr std::int32_t missing = -1;

/// The branch a row takes at an inner node, or `missing`.
template <typename Rows>
std::int32_t branch_of(const Tree& tree, std::size_t node, const Rows& row) {
    const double value = row[tree.feature[node]];
    if (std::isnan(value)) return missing;
    const auto begin = static_cast<std::size_t>(tree.category_indptr[node]);
    const auto end = static_cast<std::size_t>(tree.category_indptr[node + 1]);
    if (begin == end) return value > tree.threshold[node] ? 0 : 1;
    const auto n_categories = static_cast<double>(end - begin);
    if (!(value >= 0 && value < n_categories)) return missing;
    return tree.category_branch[begin + static_cast<std::size_t>(value)];
}

std::size_t child_of(const Tree& tree, std::size_t node, std::int32_t branch) {
    return static_cast<std::size_t>(
        tree.child[static_cast<std::size_t>(tree.child_indptr[node] + branch)]);
}

/// Adds leaf / divisor to out.
void add_divided(const Tree& tree, std::size_t node, double divisor, double* out) {
    const auto end = static_cast<std::size_t>(tree.value_indptr[node + 1]);
    for (auto k = static_cast<std::size_t>(tree.value_indptr[node]); k < end; ++k) {
        out[tree.value_label[k]] += tree.value[k] / divisor;
    }
}

/// Adds factor * leaf to out.
void add_leaf(const Tree& tree, std::size_t node, double factor, double* out) {
    const auto end = static_cast<std::size_t>(tree.value_indptr[node + 1]);
    for (auto k = static_cast<std::size_t>(tree.value_indptr[node]); k < end; ++k) {
        out[tree.value_label[k]] += factor * tree.value[k];
    }
}

/// Follows tests from `node` to a leaf, or to a test whose value is missing.
template <typename Rows>
std::size_t descend(const Tree& tree, std::size_t node, const Rows& row) {
    while (tree.feature[node] >= 0) {
        const auto branch = branch_of(tree, node, row);
        if (branch == missing) break;
        node = child_of(tree, node, branch);
    }
    return node;
}

struct Part {
    std::size_t node;
    double share;
};

template <typename Rows>
void mix_by_leaf(const Tree& tree, const Rows& row, double divisor, std::vector<Part>& stack,
                 double* out) {
    stack.assign(1, {0, 1.0});
    while (!stack.empty()) {
        const Part part = stack.back();
        stack.pop_back();
        const auto node = descend(tree, part.node, row);
        if (tree.feature[node] < 0) {
            add_leaf(tree, node, part.share / divisor, out);
            continue;
        }
        const auto begin = static_cast<std::size_t>(tree.child_indptr[node]);
        // Last branch first onto the stack: leaves are added in the order of the tree.
        for (auto k = static_cast<std::size_t>(tree.child_indptr[node + 1]); k-- > begin;) {
            stack.push_back({static_cast<std::size_t>(tree.child[k]), part.share * tree.share[k]});
        }
    }
}

/// A test whose branches are being combined: those before `next` are in its sum.
struct OpenTest {
    std::size_t node;
    std::size_t next;
};

/// Combines the branches of tests whose value is missing, bottom up. The sums of all open tests
/// are kept, so a deep tree is combined for a few labels at a time.
template <typename Rows>
class BranchMixer {
  public:
    BranchMixer(const Tree& tree, const Rows& row, StopSignal& signal)
        : tree_(tree), row_(row), signal_(signal) {}

    void add(double divisor, std::size_t n_labels, double* out) {
        constexpr std::size_t max_cells = 1 << 22;
        walk([] {}, [](std::size_t) {}, [](double) {});
        const std::size_t width = std::max<std::size_t>(max_cells / (most_open_ + 1), 1);
        for (std::size_t begin = 0; begin < n_labels; begin += width) {
            add_range(begin, std::min(begin + width, n_labels), divisor, out);
        }
    }

  private:
    /// For labels from `begin` to `end`.
    void add_range(std::size_t begin, std::size_t end, double divisor, double* out) {
        const std::size_t n = end - begin;
        sums_.resize((most_open_ + 1) * n);
        done_.resize(n);
        walk([&] { std::fill_n(sum(n), n, 0.0); },
             [&](std::size_t leaf) { copy_leaf(leaf, begin, end); },
             [&](double share) {
                 double* const total = sum(n);
                 for (std::size_t c = 0; c < n; ++c) total[c] += share * done_[c];
                 if (is_last_branch()) std::copy_n(total, n, done_.begin());
             });
        for (std::size_t c = 0; c < n; ++c) out[begin + c] += done_[c] / divisor;
    }

    /// Calls `start` at a test with a missing value, `finish` at a leaf, and `combine` with the
    /// share of a branch when the branch is done.
    template <typename Start, typename Finish, typename Combine>
    void walk(Start start, Finish finish, Combine combine) {
        open_.clear();
        auto node = descend(tree_, 0, row_);
        for (;;) {
            signal_.check();
            if (tree_.feature[node] >= 0) {
                open_.push_back({node, static_cast<std::size_t>(tree_.child_indptr[node])});
                most_open_ = std::max(most_open_, open_.size());
                start();
                node =
                    descend(tree_, static_cast<std::size_t>(tree_.child[open_.back().next]), row_);
                continue;
            }
            finish(node);
            while (!open_.empty()) {
                combine(tree_.share[open_.back().next]);
                if (!is_last_branch()) break;
                open_.pop_back();
            }
            if (open_.empty()) return;
            node =
                descend(tree_, static_cast<std::size_t>(tree_.child[++open_.back().next]), row_);
        }
    }

    bool is_last_branch() const {
        const auto& [node, next] = open_.back();
        return next + 1 == static_cast<std::size_t>(tree_.child_indptr[node + 1]);
    }

    /// The sum of the innermost open test.
    double* sum(std::size_t n) { return sums_.data() + (open_.size() - 1) * n; }

    void copy_leaf(std::size_t leaf, std::size_t begin, std::size_t end) {
        std::fill(done_.begin(), done_.end(), 0.0);
        const auto labels = std::span(tree_.value_label);
        const auto last = static_cast<std::size_t>(tree_.value_indptr[leaf + 1]);
        auto k = static_cast<std::size_t>(tree_.value_indptr[leaf]);
        if (begin > 0) {
            k = static_cast<std::size_t>(std::lower_bound(labels.begin() + k,
                                                          labels.begin() + last,
                                                          static_cast<std::int32_t>(begin)) -
                                         labels.begin());
        }
        for (; k < last && static_cast<std::size_t>(labels[k]) < end; ++k) {
            done_[static_cast<std::size_t>(labels[k]) - begin] = tree_.value[k];
        }
    }

    const Tree& tree_;
    const Rows& row_;
    StopSignal& signal_;
    std::vector<OpenTest> open_;
    std::size_t most_open_ = 0;
    std::vector<double> sums_;  // per open test
    std::vector<double> done_;  // of the last finished node
};

/// Adds the shares of the selected row, divided by `divisor`.
template <typename Rows>
void add_row(const Tree& tree, const Rows& row, Mixing mixing, double divisor,
             std::size_t n_labels, StopSignal& signal, std::vector<Part>& stack, double* out) {
    const auto node = descend(tree, 0, row);
    if (tree.feature[node] < 0) {
        if (divisor == 1.0) {
            add_leaf(tree, node, 1.0, out);
        } else {
            add_divided(tree, node, divisor, out);
        }
    } else if (mixing == Mixing::by_leaf) {
        mix_by_leaf(tree, row, divisor, stack, out);
    } else {
        BranchMixer(tree, row, signal).add(divisor, n_labels, out);
    }
}

}  // namespace

void SparseCells::select(std::size_t row) {
    for (auto k = begin_; k < end_; ++k) cells_[static_cast<std::size_t>(X_.indices[k])] = 0.0;
    begin_ = static_cast<std::size_t>(X_.indptr[row]);
    end_ = static_cast<std::size_t>(X_.indptr[row + 1]);
    for (auto k = begin_; k < end_; ++k) {
        cells_[static_cast<std::size_t>(X_.indices[k])] = X_.data[k];
    }
}

template <typename Rows>
void add_predictions(const Tree& tree, Rows rows, Mixing mixing, double divisor,
                     std::size_t n_labels, StopSignal& signal, std::span<double> out) {
    std::vector<Part> stack;
    for (std::size_t r = 0; r < rows.n_rows(); ++r) {
        signal.check();
        rows.select(r);
        add_row(tree, rows, mixing, divisor, n_labels, signal, stack, out.data() + r * n_labels);
    }
}

template <typename Rows>
void write_votes(std::span<const Tree* const> trees, const Rows& rows, Mixing mixing,
                 std::size_t n_labels, std::span<const std::uint8_t> voters, unsigned n_threads,
                 StopSignal& signal, std::span<double> out) {
    constexpr std::size_t block = 32;
    const std::size_t n_rows = rows.n_rows();
    const auto votes = [&](std::size_t t, std::size_t r) {
        return voters.empty() || voters[t * n_rows + r] != 0;
    };
    struct Worker {
        Rows rows;
        std::vector<Part> stack;
    };
    std::vector<Worker> workers(n_threads, Worker{rows, {}});
    const auto write_row = [&](Worker& worker, std::size_t r) {
        double n_voters = 0;
        for (std::size_t t = 0; t < trees.size(); ++t) n_voters += votes(t, r);
        if (n_voters == 0) return;
        worker.rows.select(r);
        double* scores = out.data() + r * n_labels;
        std::fill_n(scores, n_labels, 0.0);
        const double divisor = mixing == Mixing::by_node ? n_voters : 1.0;
        for (std::size_t t = 0; t < trees.size(); ++t) {
            if (!votes(t, r)) continue;
            add_row(*trees[t], worker.rows, mixing, divisor, n_labels, signal, worker.stack,
                    scores);
        }
        if (mixing == Mixing::by_node) return;
        for (std::size_t c = 0; c < n_labels; ++c) scores[c] /= n_voters;
    };
    parallel_for(n_threads, (n_rows + block - 1) / block, signal,
                 [&](unsigned thread, std::size_t b) {
                     signal.check();
                     const std::size_t end = std::min(n_rows, (b + 1) * block);
                     for (std::size_t r = b * block; r < end; ++r) write_row(workers[thread], r);
                 });
}

template <typename Rows>
void find_leaves(const Tree& tree, Rows rows, StopSignal& signal, std::span<std::int32_t> leaf) {
    for (std::size_t r = 0; r < rows.n_rows(); ++r) {
        if (r % 16 == 0) signal.check();
        rows.select(r);
        auto node = descend(tree, 0, rows);
        while (tree.feature[node] >= 0) {
            const auto begin = tree.share.begin() + tree.child_indptr[node];
            const auto end = tree.share.begin() + tree.child_indptr[node + 1];
            const auto largest = static_cast<std::int32_t>(std::max_element(begin, end) - begin);
            node = descend(tree, child_of(tree, node, largest), rows);
        }
        leaf[r] = static_cast<std::int32_t>(node);
    }
}

template void add_predictions(const Tree&, DenseRows<float>, Mixing, double, std::size_t,
                              StopSignal&, std::span<double>);
template void add_predictions(const Tree&, DenseRows<double>, Mixing, double, std::size_t,
                              StopSignal&, std::span<double>);
template void add_predictions(const Tree&, SparseCells, Mixing, double, std::size_t, StopSignal&,
                              std::span<double>);
template void write_votes(std::span<const Tree* const>, const DenseRows<float>&, Mixing,
                          std::size_t, std::span<const std::uint8_t>, unsigned, StopSignal&,
                          std::span<double>);
template void write_votes(std::span<const Tree* const>, const DenseRows<double>&, Mixing,
                          std::size_t, std::span<const std::uint8_t>, unsigned, StopSignal&,
                          std::span<double>);
template void write_votes(std::span<const Tree* const>, const SparseCells&, Mixing, std::size_t,
                          std::span<const std::uint8_t>, unsigned, StopSignal&, std::span<double>);
template void find_leaves(const Tree&, DenseRows<float>, StopSignal&, std::span<std::int32_t>);
template void find_leaves(const Tree&, DenseRows<double>, StopSignal&, std::span<std::int32_t>);
template void find_leaves(const Tree&, SparseCells, StopSignal&, std::span<std::int32_t>);

}  // namespace ramify
