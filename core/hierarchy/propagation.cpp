#include "hierarchy/propagation.hpp"

#include <algorithm>
#include <bit>

namespace ramify {

namespace {

/// A set of labels that returns its largest member first, even if members are inserted meanwhile.
class DescendingSet {
  public:
    explicit DescendingSet(std::size_t n_labels)
        : members_(n_labels / 64 + 1, 0), occupied_(n_labels / 4096 + 1, 0) {}

    void insert(std::int32_t label) {
        const auto word = static_cast<std::size_t>(label) / 64;
        members_[word] |= std::uint64_t{1} << (label % 64);
        occupied_[word / 64] |= std::uint64_t{1} << (word % 64);
        top_ = std::max(top_, word / 64);
    }

    /// Removes and returns the largest member, or -1 if the set is empty.
    std::int32_t pop() {
        while (occupied_[top_] == 0) {
            if (top_ == 0) return -1;
            --top_;
        }
        const auto word = top_ * 64 + highest(occupied_[top_]);
        const auto bit = highest(members_[word]);
        members_[word] &= ~(std::uint64_t{1} << bit);
        if (members_[word] == 0) occupied_[top_] &= ~(std::uint64_t{1} << (word % 64));
        return static_cast<std::int32_t>(word * 64 + bit);
    }

  private:
    static std::size_t highest(std::uint64_t bits) {
        return 63 - static_cast<std::size_t>(std::countl_zero(bits));
    }

    std::vector<std::uint64_t> members_;   // one bit per label
    std::vector<std::uint64_t> occupied_;  // one bit per word of members_
    std::size_t top_ = 0;                  // no word of occupied_ after this one has a bit
};

}  // namespace

ScoredRows propagate(SparseRowsView labels, std::span<const double> scores, SparseRowsView parents,
                     Propagation how, StopSignal& signal) {
    const std::size_t n_labels = parents.n_rows();
    ScoredRows result;
    result.rows.indptr.reserve(labels.n_rows() + 1);
    result.rows.indptr.push_back(0);
    DescendingSet open(n_labels);
    std::vector<double> own(n_labels, 0.0);
    std::vector<double> from_children(n_labels, 0.0);
    for (std::size_t r = 0; r < labels.n_rows(); ++r) {
        if (r % 16 == 0) signal.check();
        const auto row = labels.row(r);
        const double* row_scores = scores.data() + labels.indptr[r];
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (!(row_scores[k] > 0.0)) continue;
            own[row[k]] = std::max(own[row[k]], row_scores[k]);
            open.insert(row[k]);
        }
        const auto begin = static_cast<std::ptrdiff_t>(result.scores.size());
        // Parents come before their children, so that a label is final when it is the largest.
        for (std::int32_t label = open.pop(); label >= 0; label = open.pop()) {
            const bool keeps = how == Propagation::fill && own[label] > 0.0;
            const double score = keeps ? own[label] : std::max(own[label], from_children[label]);
            own[label] = from_children[label] = 0.0;
            result.rows.indices.push_back(label);
            result.scores.push_back(score);
            for (const std::int32_t parent : parents.row(static_cast<std::size_t>(label))) {
                from_children[parent] = std::max(from_children[parent], score);
                open.insert(parent);
            }
        }
        std::reverse(result.rows.indices.begin() + begin, result.rows.indices.end());
        std::reverse(result.scores.begin() + begin, result.scores.end());
        result.rows.indptr.push_back(static_cast<std::int64_t>(result.scores.size()));
    }
    return result;
}

}  // namespace ramify
