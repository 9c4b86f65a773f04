#include "tree/prune.hpp"

#include <algorithm>
#include <span>

#include "tree/builder.hpp"

namespace ramify {

namespace {

template <typename T>
std::span<const T> slice(const std::vector<std::int64_t>& indptr, const std::vector<T>& values,
                         std::size_t node) {
    const auto begin = static_cast<std::size_t>(indptr[node]);
    return {values.data() + begin, static_cast<std::size_t>(indptr[node + 1]) - begin};
}

std::vector<std::int32_t> labels_at_half(const Tree& tree, std::size_t node) {
    std::vector<std::int32_t> labels;
    const auto names = slice(tree.value_indptr, tree.value_label, node);
    const auto values = slice(tree.value_indptr, tree.value, node);
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (values[k] >= 0.5) labels.push_back(names[k]);
    }
    return labels;
}

/// The part of a node's values that belongs to one target: from the first to past the last.
struct TargetValues {
    std::size_t begin;
    std::size_t end;
};

TargetValues values_of(const Tree& tree, std::size_t node, const TargetTable& table,
                       std::size_t target) {
    const auto columns = slice(tree.value_indptr, tree.value_label, node);
    const auto place = [&](std::int32_t column) {
        return static_cast<std::size_t>(
            tree.value_indptr[node] +
            (std::ranges::lower_bound(columns, column) - columns.begin()));
    };
    return {place(table.first_column[target]), place(table.first_column[target + 1])};
}

/// The most frequent class of each target, the first one of ties.
std::vector<std::int32_t> majority_classes(const Tree& tree, std::size_t node,
                                           const TargetTable& table) {
    std::vector<std::int32_t> classes(table.n_targets(), -1);
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const auto [begin, end] = values_of(tree, node, table, i);
        if (begin == end) continue;
        const auto most = std::max_element(tree.value.begin() + static_cast<std::ptrdiff_t>(begin),
                                           tree.value.begin() + static_cast<std::ptrdiff_t>(end));
        classes[i] = tree.value_label[static_cast<std::size_t>(most - tree.value.begin())];
    }
    return classes;
}

bool same_prediction(const Tree& tree, std::size_t a, std::size_t b, LeafMerging merging,
                     const TargetTable* table) {
    if (merging == LeafMerging::none) return false;
    if (merging == LeafMerging::same_classes) {
        return majority_classes(tree, a, *table) == majority_classes(tree, b, *table);
    }
    if (merging == LeafMerging::same_labels) {
        return labels_at_half(tree, a) == labels_at_half(tree, b);
    }
    return std::ranges::equal(slice(tree.value_indptr, tree.value_label, a),
                              slice(tree.value_indptr, tree.value_label, b)) &&
           std::ranges::equal(slice(tree.value_indptr, tree.value, a),
                              slice(tree.value_indptr, tree.value, b));
}

}  // namespace

Tree cut_tree(const Tree& tree, const std::vector<char>& is_leaf, bool inner_values) {
    std::vector<std::int32_t> new_id(tree.n_nodes(), -1);
    std::int32_t n_kept = 0;
    new_id[0] = 0;
    // Parents come before their children, so that one pass numbers the nodes that are kept.
    std::vector<char> kept(tree.n_nodes(), 0);
    kept[0] = 1;
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        if (!kept[i]) continue;
        new_id[i] = n_kept++;
        if (is_leaf[i]) continue;
        for (const auto child : slice(tree.child_indptr, tree.child, i)) {
            kept[static_cast<std::size_t>(child)] = 1;
        }
    }
    Tree result;
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        if (!kept[i]) continue;
        copy_node(tree, i, result);
        if (is_leaf[i]) {
            result.feature.back() = -1;
            result.threshold.back() = 0;
            result.gain.back() = 0;
            result.child.resize(static_cast<std::size_t>(result.child_indptr.back()));
            result.share.resize(result.child.size());
            result.category_branch.resize(static_cast<std::size_t>(result.category_indptr.back()));
        } else if (!inner_values) {
            result.value_label.resize(static_cast<std::size_t>(result.value_indptr.back()));
            result.value.resize(result.value_label.size());
        }
    }
    close_tree(result);
    for (auto& child : result.child) child = new_id[static_cast<std::size_t>(child)];
    return result;
}

Tree merge_leaves(const Tree& tree, LeafMerging merging, bool inner_values,
                  const TargetTable* table) {
    std::vector<char> is_leaf(tree.n_nodes());
    for (std::size_t i = tree.n_nodes(); i-- > 0;) {
        const auto children = slice(tree.child_indptr, tree.child, i);
        is_leaf[i] = std::ranges::all_of(children, [&](std::int32_t child) {
            return is_leaf[static_cast<std::size_t>(child)] &&
                   same_prediction(tree, static_cast<std::size_t>(children.front()),
                                   static_cast<std::size_t>(child), merging, table);
        });
    }
    return cut_tree(tree, is_leaf, inner_values);
}

Tree inherit_values(const Tree& tree, const TargetTable& table) {
    Tree result = tree;
    result.value_indptr.assign(1, 0);
    result.value_label.clear();
    result.value.clear();
    std::vector<std::size_t> parent(tree.n_nodes(), 0);
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        for (const auto child : slice(tree.child_indptr, tree.child, i)) {
            parent[static_cast<std::size_t>(child)] = i;
        }
        for (std::size_t target = 0; target < table.n_targets(); ++target) {
            TargetValues found = values_of(tree, i, table, target);
            const bool own = found.begin < found.end || i == 0;
            // Parents come before their children and are complete.
            if (!own) found = values_of(result, parent[i], table, target);
            for (auto k = found.begin; k < found.end; ++k) {
                const Tree& from = own ? tree : result;
                const auto column = from.value_label[k];
                const double value = from.value[k];
                result.value_label.push_back(column);
                result.value.push_back(value);
            }
        }
        result.value_indptr.push_back(static_cast<std::int64_t>(result.value.size()));
    }
    return result;
}

}  // namespace ramify
