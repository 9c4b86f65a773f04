#include "hierarchy/closure.hpp"

#include <bit>
#include <stdexcept>

namespace ramify {

namespace {

/// A set of labels that returns its members in order without sorting. It has one bit per label
/// and, above that, one bit per word, so that iteration skips 4,096 absent labels at a time.
class LabelSet {
  public:
    explicit LabelSet(std::size_t n_labels)
        : members_(n_labels / 64 + 1, 0), occupied_(n_labels / 4096 + 1, 0) {}

    bool contains(std::int32_t label) const {
        const auto word = static_cast<std::size_t>(label) / 64;
        return (members_[word] >> (label % 64)) & 1;
    }

    void insert(std::int32_t label) {
        const auto word = static_cast<std::size_t>(label) / 64;
        members_[word] |= std::uint64_t{1} << (label % 64);
        occupied_[word / 64] |= std::uint64_t{1} << (word % 64);
    }

    void insert(std::span<const std::int32_t> labels) {
        for (const std::int32_t label : labels) insert(label);
    }

    /// Calls visit(word, bits) for every word with members, in order, and empties the set.
    template <typename Visit>
    void drain(Visit visit) {
        for (std::size_t block = 0; block < occupied_.size(); ++block) {
            for (std::uint64_t words = occupied_[block]; words != 0; words &= words - 1) {
                const auto word = block * 64 + static_cast<std::size_t>(std::countr_zero(words));
                visit(word, members_[word]);
                members_[word] = 0;
            }
            occupied_[block] = 0;
        }
    }

    void clear() {
        drain([](std::size_t, std::uint64_t) {});
    }

  private:
    std::vector<std::uint64_t> members_;
    std::vector<std::uint64_t> occupied_;
};

SparseRows rows_with_capacity(std::size_t n_rows) {
    SparseRows rows;
    rows.indptr.reserve(n_rows + 1);
    rows.indptr.push_back(0);
    return rows;
}

/// Moves the members of the set into a new last row.
void append_row(SparseRows& rows, LabelSet& members) {
    auto& indices = rows.indices;
    members.drain([&](std::size_t word, std::uint64_t bits) {
        const auto begin = indices.size();
        indices.resize(begin + static_cast<std::size_t>(std::popcount(bits)));
        for (auto* out = indices.data() + begin; bits != 0; bits &= bits - 1) {
            *out++ = static_cast<std::int32_t>(word * 64) + std::countr_zero(bits);
        }
    });
    rows.indptr.push_back(static_cast<std::int64_t>(indices.size()));
}

/// Adds labels and all their ancestors to a set that contains the ancestors of its members. Every
/// label and every edge is visited at most once.
void insert_closed(LabelSet& closed, std::span<const std::int32_t> labels, SparseRowsView parents,
                   std::vector<std::int32_t>& waiting) {
    const auto add = [&](std::span<const std::int32_t> found) {
        for (const std::int32_t label : found) {
            if (closed.contains(label)) continue;
            closed.insert(label);
            waiting.push_back(label);
        }
    };
    add(labels);
    while (!waiting.empty()) {
        const auto label = static_cast<std::size_t>(waiting.back());
        waiting.pop_back();
        add(parents.row(label));
    }
}

}  // namespace

SparseRows ancestors(SparseRowsView parents, std::size_t max_size, StopSignal& signal) {
    const std::size_t n_labels = parents.n_rows();
    SparseRows result = rows_with_capacity(n_labels);
    LabelSet above(n_labels);
    for (std::size_t label = 0; label < n_labels; ++label) {
        if (label % 16 == 0) signal.check();
        for (const std::int32_t parent : parents.row(label)) {
            if (above.contains(parent)) continue;
            above.insert(parent);
            // In topological order, the ancestors of the parent are already complete.
            above.insert(SparseRowsView{result.indptr, result.indices}.row(
                static_cast<std::size_t>(parent)));
        }
        append_row(result, above);
        if (result.indices.size() > max_size) throw std::length_error("too many ancestors");
    }
    return result;
}

SparseRows close_upwards(SparseRowsView labels, SparseRowsView parents, std::size_t max_size,
                         StopSignal& signal) {
    SparseRows result = rows_with_capacity(labels.n_rows());
    result.indices.reserve(labels.indices.size() * 2);
    LabelSet closed(parents.n_rows());
    std::vector<std::int32_t> waiting;
    for (std::size_t r = 0; r < labels.n_rows(); ++r) {
        signal.check();
        insert_closed(closed, labels.row(r), parents, waiting);
        append_row(result, closed);
        if (result.indices.size() > max_size) throw std::length_error("too many labels");
    }
    return result;
}

SparseRows most_specific(SparseRowsView labels, SparseRowsView parents, StopSignal& signal) {
    SparseRows result = rows_with_capacity(labels.n_rows());
    LabelSet covered(parents.n_rows());
    LabelSet kept(parents.n_rows());
    std::vector<std::int32_t> waiting;
    for (std::size_t r = 0; r < labels.n_rows(); ++r) {
        signal.check();
        const auto row = labels.row(r);
        for (const std::int32_t label : row) {
            insert_closed(covered, parents.row(static_cast<std::size_t>(label)), parents, waiting);
        }
        for (const std::int32_t label : row) {
            if (!covered.contains(label)) kept.insert(label);
        }
        covered.clear();
        append_row(result, kept);
    }
    return result;
}

}  // namespace ramify
