#include "tree/builder.hpp"

#include <algorithm>

#include "common/tolerance.hpp"

namespace ramify {

namespace {

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from, std::size_t begin, std::size_t end) {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
              from.begin() + static_cast<std::ptrdiff_t>(end));
}

/// The part of `from` that belongs to one node, appended to `to` with a new start.
template <typename T>
void append_slice(std::vector<std::int64_t>& to_indptr, std::vector<T>& to,
                  const std::vector<std::int64_t>& from_indptr, const std::vector<T>& from,
                  std::size_t node) {
    to_indptr.push_back(static_cast<std::int64_t>(to.size()));
    append(to, from, static_cast<std::size_t>(from_indptr[node]),
           static_cast<std::size_t>(from_indptr[node + 1]));
}

/// The largest branch; the first of ties.
std::size_t largest_branch(const std::vector<double>& share) {
    const double most = *std::ranges::max_element(share);
    const auto first = std::ranges::find_if(share, [&](double s) { return reaches(s, most); });
    return static_cast<std::size_t>(first - share.begin());
}

/// A small tree may have been grown on many rows: memory reserved but not used is released.
template <typename T>
void give_back_room(std::vector<T>& values) {
    if (values.capacity() > 2 * values.size()) values.shrink_to_fit();
}

}  // namespace

void copy_node(const Tree& from, std::size_t node, Tree& to) {
    to.feature.push_back(from.feature[node]);
    to.threshold.push_back(from.threshold[node]);
    to.weight.push_back(from.weight[node]);
    to.n_samples.push_back(from.n_samples[node]);
    to.impurity.push_back(from.impurity[node]);
    to.gain.push_back(from.gain[node]);
    const auto begin = static_cast<std::size_t>(from.child_indptr[node]);
    const auto end = static_cast<std::size_t>(from.child_indptr[node + 1]);
    append(to.share, from.share, begin, end);
    append_slice(to.child_indptr, to.child, from.child_indptr, from.child, node);
    append_slice(to.category_indptr, to.category_branch, from.category_indptr,
                 from.category_branch, node);
    append(to.value, from.value, static_cast<std::size_t>(from.value_indptr[node]),
           static_cast<std::size_t>(from.value_indptr[node + 1]));
    append_slice(to.value_indptr, to.value_label, from.value_indptr, from.value_label, node);
}

void close_tree(Tree& tree) {
    tree.child_indptr.push_back(static_cast<std::int64_t>(tree.child.size()));
    tree.category_indptr.push_back(static_cast<std::int64_t>(tree.category_branch.size()));
    tree.value_indptr.push_back(static_cast<std::int64_t>(tree.value_label.size()));
}

void TreeBuilder::expect_values(std::size_t n) {
    tree_.value_label.reserve(n);
    tree_.value.reserve(n);
}

std::int32_t TreeBuilder::add_node(Place place, double weight, std::size_t n_samples) {
    const auto id = static_cast<std::int32_t>(tree_.n_nodes());
    if (place.parent >= 0) {
        const auto begin = tree_.child_indptr[static_cast<std::size_t>(place.parent)];
        tree_.child[static_cast<std::size_t>(begin + place.branch)] = id;
    }
    tree_.feature.push_back(-1);
    tree_.threshold.push_back(0);
    tree_.weight.push_back(weight);
    tree_.n_samples.push_back(static_cast<std::int64_t>(n_samples));
    tree_.impurity.push_back(0);
    tree_.gain.push_back(0);
    tree_.child_indptr.push_back(static_cast<std::int64_t>(tree_.child.size()));
    tree_.category_indptr.push_back(static_cast<std::int64_t>(tree_.category_branch.size()));
    tree_.value_indptr.push_back(static_cast<std::int64_t>(tree_.value_label.size()));
    return id;
}

void TreeBuilder::set_split(std::int32_t node, const Split& split, double factor, bool divides) {
    const auto i = static_cast<std::size_t>(node);
    tree_.feature[i] = split.feature;
    tree_.threshold[i] = split.threshold;
    tree_.gain[i] = split.gain * factor;
    tree_.child.insert(tree_.child.end(), split.share.size(), -1);
    if (divides && split.missing_branch < 0) {
        append(tree_.share, split.share, 0, split.share.size());
    } else {
        const auto whole = split.missing_branch < 0
                               ? largest_branch(split.share)
                               : static_cast<std::size_t>(split.missing_branch);
        for (std::size_t b = 0; b < split.share.size(); ++b) tree_.share.push_back(b == whole);
    }
    append(tree_.category_branch, split.category_branch, 0, split.category_branch.size());
}

void TreeBuilder::set_impurity(std::int32_t node, double impurity, double weight) {
    tree_.impurity[static_cast<std::size_t>(node)] = weight > 0 ? impurity / weight : 0;
}

void TreeBuilder::set_values(std::int32_t, std::span<const LabelSum> sums, double weight) {
    const std::size_t before = tree_.value.size();
    tree_.value_label.resize(before + sums.size());
    tree_.value.resize(before + sums.size());
    std::size_t k = before;
    for (const auto& s : sums) {  // branch-free: all are written, positive ones are kept
        tree_.value_label[k] = s.label;
        tree_.value[k] = s.sum / weight;
        k += s.sum > 0;
    }
    tree_.value_label.resize(k);
    tree_.value.resize(k);
}

void TreeBuilder::set_values(std::int32_t, std::span<const std::int32_t> columns,
                             std::span<const double> values) {
    tree_.value_label.insert(tree_.value_label.end(), columns.begin(), columns.end());
    tree_.value.insert(tree_.value.end(), values.begin(), values.end());
}

void TreeBuilder::set_labels(std::int32_t, std::span<const std::int32_t> labels) {
    tree_.value_label.insert(tree_.value_label.end(), labels.begin(), labels.end());
    tree_.value.insert(tree_.value.end(), labels.size(), 1.0);
}

void TreeBuilder::mark_deferred(std::int32_t node, std::size_t subtree) {
    deferred_.push_back({node, subtree});
}

Tree TreeBuilder::finish(std::span<TreeBuilder> subtrees) && {
    close_tree(tree_);
    if (deferred_.empty()) {
        give_back_room(tree_.value_label);
        give_back_room(tree_.value);
        return std::move(tree_);
    }
    for (auto& subtree : subtrees) close_tree(subtree.tree_);

    // A placeholder becomes the root of its subtree; later nodes are shifted by its size.
    std::vector<std::int32_t> new_id(tree_.n_nodes());
    std::int32_t shift = 0;
    auto next = deferred_.begin();
    for (std::size_t i = 0; i < new_id.size(); ++i) {
        new_id[i] = static_cast<std::int32_t>(i) + shift;
        if (next != deferred_.end() && static_cast<std::size_t>(next->node) == i) {
            shift += static_cast<std::int32_t>(subtrees[next->subtree].tree_.n_nodes()) - 1;
            ++next;
        }
    }
    Tree whole;
    next = deferred_.begin();
    for (std::size_t i = 0; i < new_id.size(); ++i) {
        const auto first_child = whole.child.size();
        if (next == deferred_.end() || static_cast<std::size_t>(next->node) != i) {
            copy_node(tree_, i, whole);
            for (auto k = first_child; k < whole.child.size(); ++k) {
                whole.child[k] = new_id[static_cast<std::size_t>(whole.child[k])];
            }
            continue;
        }
        const Tree& subtree = subtrees[next->subtree].tree_;
        for (std::size_t j = 0; j < subtree.n_nodes(); ++j) copy_node(subtree, j, whole);
        for (auto k = first_child; k < whole.child.size(); ++k) whole.child[k] += new_id[i];
        ++next;
    }
    close_tree(whole);
    return whole;
}

}  // namespace ramify
