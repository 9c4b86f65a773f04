#include "closure.hpp"

#include <algorithm>

namespace ramify {

namespace {

/// A set of labels that empties itself in O(1): a label is in it when its stamp is the current one.
class StampSet {
  public:
    explicit StampSet(std::size_t n_labels) : stamps_(n_labels, 0) {}
    void clear() { ++current_; }
    bool contains(std::int32_t label) const {
        return stamps_[static_cast<std::size_t>(label)] == current_;
    }
    /// True when the label was not in the set before.
    bool insert(std::int32_t label) {
        auto& stamp = stamps_[static_cast<std::size_t>(label)];
        if (stamp == current_) return false;
        stamp = current_;
        return true;
    }

  private:
    std::vector<std::int64_t> stamps_;
    std::int64_t current_ = 1;
};

}  // namespace

SparseRows ancestors(SparseRowsView parents) {
    const std::size_t n_labels = parents.n_rows();
    SparseRows result;
    result.indptr.reserve(n_labels + 1);
    result.indptr.push_back(0);
    StampSet seen(n_labels);
    for (std::size_t label = 0; label < n_labels; ++label) {
        seen.clear();
        const auto begin = result.indices.size();
        for (const std::int32_t parent : parents.row(label)) {
            if (seen.insert(parent)) result.indices.push_back(parent);
            // Topological order: the parent's own ancestors are complete already.
            const auto from = result.indptr[static_cast<std::size_t>(parent)];
            const auto to = result.indptr[static_cast<std::size_t>(parent) + 1];
            for (auto k = from; k < to; ++k) {
                const std::int32_t ancestor = result.indices[static_cast<std::size_t>(k)];
                if (seen.insert(ancestor)) result.indices.push_back(ancestor);
            }
        }
        std::sort(result.indices.begin() + static_cast<std::ptrdiff_t>(begin),
                  result.indices.end());
        result.indptr.push_back(static_cast<std::int64_t>(result.indices.size()));
    }
    return result;
}

SparseRows close_upwards(SparseRowsView labels, SparseRowsView ancestors_of) {
    SparseRows result;
    result.indptr.reserve(labels.n_rows() + 1);
    result.indptr.push_back(0);
    result.indices.reserve(labels.indices.size() * 2);
    StampSet seen(ancestors_of.n_rows());
    for (std::size_t r = 0; r < labels.n_rows(); ++r) {
        seen.clear();
        const auto begin = static_cast<std::ptrdiff_t>(result.indices.size());
        for (const std::int32_t label : labels.row(r)) {
            // A label seen before brought its ancestors with it.
            if (!seen.insert(label)) continue;
            result.indices.push_back(label);
            for (const std::int32_t ancestor : ancestors_of.row(static_cast<std::size_t>(label))) {
                if (seen.insert(ancestor)) result.indices.push_back(ancestor);
            }
        }
        std::sort(result.indices.begin() + begin, result.indices.end());
        result.indptr.push_back(static_cast<std::int64_t>(result.indices.size()));
    }
    return result;
}

SparseRows most_specific(SparseRowsView labels, SparseRowsView ancestors_of) {
    SparseRows result;
    result.indptr.reserve(labels.n_rows() + 1);
    result.indptr.push_back(0);
    StampSet covered(ancestors_of.n_rows());
    for (std::size_t r = 0; r < labels.n_rows(); ++r) {
        covered.clear();
        for (const std::int32_t label : labels.row(r)) {
            for (const std::int32_t ancestor : ancestors_of.row(static_cast<std::size_t>(label))) {
                covered.insert(ancestor);
            }
        }
        const auto begin = static_cast<std::ptrdiff_t>(result.indices.size());
        for (const std::int32_t label : labels.row(r)) {
            // Inserting also drops repeats.
            if (covered.insert(label)) result.indices.push_back(label);
        }
        std::sort(result.indices.begin() + begin, result.indices.end());
        result.indptr.push_back(static_cast<std::int64_t>(result.indices.size()));
    }
    return result;
}

}  // namespace ramify
