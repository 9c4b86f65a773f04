// The hierarchy as the decoders need it: leaves, their paths, and the leaves below each label.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hierarchy/closure.hpp"

namespace ramify {

/// A range of consecutive leaves, by their position among all leaves: first, ..., last - 1.
struct LeafRun {
    std::int32_t first;
    std::int32_t last;
};

/// A hierarchy with precomputed leaves and paths; built once and shared by all threads.
class LeafGraph {
  public:
    /// `parents` lists direct parents, labels in topological order (parents[l] < l). Borrowed.
    explicit LeafGraph(SparseRowsView parents);

    std::size_t n_labels() const { return parents_.n_rows(); }
    std::size_t n_leaves() const { return leaves_.size(); }
    bool is_tree() const { return is_tree_; }
    SparseRowsView parents() const { return parents_; }

    std::span<const std::int32_t> leaves() const { return leaves_; }
    bool is_leaf(std::size_t label) const { return is_leaf_[label] != 0; }

    /// The first parent of a label; n_labels() denotes the root.
    std::int32_t parent(std::size_t label) const { return parent_[label]; }

    std::span<const std::int32_t> parent_of_all() const { return parent_; }

    /// The labels whose first parent is `label`; n_labels() denotes the root.
    std::span<const std::int32_t> children(std::size_t label) const {
        return {children_.indices.data() + children_.indptr[label],
                static_cast<std::size_t>(children_.indptr[label + 1] - children_.indptr[label])};
    }

    /// A leaf, given by its position among the leaves, and all its ancestors.
    std::span<const std::int32_t> path(std::size_t leaf) const {
        return {paths_.indices.data() + paths_.indptr[leaf],
                static_cast<std::size_t>(paths_.indptr[leaf + 1] - paths_.indptr[leaf])};
    }

    /// The leaves below a label, or the label itself if it is a leaf. Labels are in depth-first
    /// order, so these form one run in a tree and few runs in most DAGs.
    std::span<const LeafRun> below(std::size_t label) const {
        return {runs_.data() + run_start_[label], run_start_[label + 1] - run_start_[label]};
    }

  private:
    void find_leaves();
    void find_children();
    void find_paths();
    void find_runs();

    SparseRowsView parents_;
    bool is_tree_ = true;
    std::vector<char> is_leaf_;
    std::vector<std::int32_t> parent_;
    std::vector<std::int32_t> leaves_;
    SparseRows children_;
    SparseRows paths_;
    std::vector<LeafRun> runs_;
    std::vector<std::size_t> run_start_;
};

}  // namespace ramify
