#include "decoding/graph.hpp"

#include <numeric>

namespace ramify {

namespace {

/// The number of labels on all paths together.
constexpr std::size_t max_paths = 500'000'000;

}  // namespace

LeafGraph::LeafGraph(SparseRowsView parents) : parents_(parents) {
    find_leaves();
    find_children();
    find_paths();
    find_runs();
}

void LeafGraph::find_leaves() {
    const auto root = static_cast<std::int32_t>(n_labels());
    is_leaf_.assign(n_labels(), 1);
    parent_.assign(n_labels(), root);
    for (std::size_t label = 0; label < n_labels(); ++label) {
        const auto above = parents_.row(label);
        if (above.size() > 1) is_tree_ = false;
        if (!above.empty()) parent_[label] = above.front();
        for (const std::int32_t parent : above) is_leaf_[parent] = 0;
    }
    for (std::size_t label = 0; label < n_labels(); ++label) {
        if (is_leaf_[label]) leaves_.push_back(static_cast<std::int32_t>(label));
    }
}

void LeafGraph::find_children() {
    children_.indptr.assign(n_labels() + 2, 0);
    for (const std::int32_t parent : parent_) ++children_.indptr[parent + 1];
    for (std::size_t i = 0; i <= n_labels(); ++i) children_.indptr[i + 1] += children_.indptr[i];
    auto next = children_.indptr;
    children_.indices.resize(n_labels());
    for (std::size_t label = 0; label < n_labels(); ++label) {
        children_.indices[next[parent_[label]]++] = static_cast<std::int32_t>(label);
    }
}

void LeafGraph::find_paths() {
    StopSignal unstopped({});
    std::vector<std::int64_t> one_each(leaves_.size() + 1);
    std::iota(one_each.begin(), one_each.end(), std::int64_t{0});
    paths_ = close_upwards({one_each, leaves_}, parents_, max_paths, unstopped);
}

void LeafGraph::find_runs() {
    std::vector<std::vector<LeafRun>> of_label(n_labels());
    for (std::size_t leaf = 0; leaf < n_leaves(); ++leaf) {
        const auto place = static_cast<std::int32_t>(leaf);
        for (const std::int32_t label : path(leaf)) {
            auto& runs = of_label[label];
            if (!runs.empty() && runs.back().last == place) {
                ++runs.back().last;
            } else {
                runs.push_back({place, place + 1});
            }
        }
    }
    run_start_.assign(1, 0);
    for (const auto& runs : of_label) {
        runs_.insert(runs_.end(), runs.begin(), runs.end());
        run_start_.push_back(runs_.size());
    }
}

}  // namespace ramify
