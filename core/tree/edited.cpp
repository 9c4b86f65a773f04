#include "tree/edited.hpp"

#include <algorithm>

#include "tree/builder.hpp"

namespace ramify {

namespace {

template <typename T>
std::vector<T> part(const std::vector<std::int64_t>& indptr, const std::vector<T>& values,
                    std::size_t node) {
    return {values.begin() + indptr[node], values.begin() + indptr[node + 1]};
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

/// Appends a node; the numbers of its children are set when these are appended.
void put(const EditedNode& node, Tree& tree) {
    const bool is_leaf = node.is_leaf();
    tree.feature.push_back(node.feature);
    tree.threshold.push_back(node.threshold);
    tree.weight.push_back(node.weight);
    tree.n_samples.push_back(node.n_samples);
    tree.impurity.push_back(node.impurity);
    tree.gain.push_back(node.gain);
    tree.child_indptr.push_back(static_cast<std::int64_t>(tree.child.size()));
    append(tree.child, node.child);
    append(tree.share, node.share);
    tree.category_indptr.push_back(static_cast<std::int64_t>(tree.category_branch.size()));
    append(tree.category_branch, node.category_branch);
    tree.value_indptr.push_back(static_cast<std::int64_t>(tree.value_label.size()));
    if (!is_leaf) return;
    append(tree.value_label, node.value_label);
    append(tree.value, node.value);
}

/// The value of a sparse column for one row.
double sparse_value(const Feature& feature, std::uint32_t row) {
    const auto cell = std::ranges::lower_bound(feature.stored_by_row, row, {}, &RankedRow::row);
    const bool stored = cell != feature.stored_by_row.end() && cell->row == row;
    return stored ? feature.values[cell->rank] : 0.0;
}

std::int32_t branch_of(const Feature& feature, const EditedNode& node, std::uint32_t row) {
    switch (feature.kind) {
        case FeatureKind::nominal: {
            const auto code = feature.codes[row];
            return code < 0 ? -1 : node.category_branch[static_cast<std::size_t>(code)];
        }
        case FeatureKind::dense: {
            const auto rank = feature.ranks[row];
            return rank == missing_rank ? -1 : !(feature.values[rank] > node.threshold);
        }
        case FeatureKind::sparse:
            if (std::ranges::binary_search(feature.missing_rows, row)) return -1;
            return !(sparse_value(feature, row) > node.threshold);
    }
    return -1;
}

}  // namespace

void EditedNode::make_leaf() {
    feature = -1;
    threshold = gain = 0;
    child.clear();
    share.clear();
    category_branch.clear();
}

EditedTree::EditedTree(const Tree& tree) : nodes_(tree.n_nodes()) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        nodes_[i] = {tree.feature[i],
                     tree.threshold[i],
                     tree.weight[i],
                     tree.n_samples[i],
                     tree.impurity[i],
                     tree.gain[i],
                     part(tree.child_indptr, tree.child, i),
                     part(tree.child_indptr, tree.share, i),
                     part(tree.category_indptr, tree.category_branch, i),
                     part(tree.value_indptr, tree.value_label, i),
                     part(tree.value_indptr, tree.value, i)};
    }
}

void EditedTree::raise(std::int32_t node, std::int32_t below) {
    (*this)[node] = EditedNode((*this)[below]);
}

Tree EditedTree::packed() const {
    struct Waiting {
        std::int32_t node;
        std::size_t place;  // among Tree::child, or none for the root
    };
    constexpr auto nowhere = static_cast<std::size_t>(-1);
    Tree tree;
    std::vector<Waiting> waiting{{0, nowhere}};
    while (!waiting.empty()) {
        const auto [id, place] = waiting.back();
        waiting.pop_back();
        if (place != nowhere) tree.child[place] = static_cast<std::int32_t>(tree.n_nodes());
        const auto& node = nodes_[static_cast<std::size_t>(id)];
        put(node, tree);
        const auto first = tree.child.size() - node.child.size();
        for (auto b = node.child.size(); b-- > 0;) waiting.push_back({node.child[b], first + b});
    }
    close_tree(tree);
    return tree;
}

NodeRows Fork::rows_of(std::size_t which, const NodeRows& rows) const {
    NodeRows taken;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const bool everywhere = branch[e] < 0;
        if (!everywhere && static_cast<std::size_t>(branch[e]) != which) continue;
        const double kept = everywhere ? share[which] : 1.0;
        if (kept > 0) taken.push_back(rows.row[e], rows.weight[e] * kept, rows.part[e] * kept);
    }
    return taken;
}

NodeRows Fork::known_rows_of(std::size_t which, const NodeRows& rows) const {
    NodeRows taken;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        if (branch[e] < 0 || static_cast<std::size_t>(branch[e]) != which) continue;
        taken.push_back(rows.row[e], rows.weight[e], rows.part[e]);
    }
    return taken;
}

Fork fork_rows(const Dataset& dataset, const EditedNode& node, const NodeRows& rows) {
    const Feature& feature = dataset.features[static_cast<std::size_t>(node.feature)];
    const auto whole = std::ranges::find(node.share, 1.0);
    const bool divides = whole == node.share.end();
    const auto of_missing = divides ? -1 : static_cast<std::int32_t>(whole - node.share.begin());
    Fork fork{{}, std::vector<double>(node.child.size(), 0.0), divides};
    fork.branch.reserve(rows.size());
    double total = 0;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const auto known = branch_of(feature, node, rows.row[e]);
        const auto branch = known < 0 ? of_missing : known;
        fork.branch.push_back(branch);
        if (branch < 0) continue;
        fork.share[static_cast<std::size_t>(branch)] += rows.weight[e];
        total += rows.weight[e];
    }
    for (auto& share : fork.share) share = total > 0 ? share / total : 0;
    return fork;
}

}  // namespace ramify
