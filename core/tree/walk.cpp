#include "tree/walk.hpp"

namespace ramify {

Walk::Walk(const Tree& tree) {
    const std::size_t n_nodes = tree.n_nodes();
    steps_.resize(n_nodes);
    missing_.resize(n_nodes);
    for (std::size_t node = 0; node < n_nodes; ++node) {
        steps_[node] = {tree.threshold[node], leaf, 0};
        if (tree.feature[node] < 0) continue;
        const auto begin = static_cast<std::size_t>(tree.child_indptr[node]);
        const auto end = static_cast<std::size_t>(tree.child_indptr[node + 1]);
        const bool numeric = tree.category_indptr[node] == tree.category_indptr[node + 1];
        const bool usual =
            numeric && end - begin == 2 && static_cast<std::size_t>(tree.child[begin]) == node + 1;
        steps_[node].feature = usual ? tree.feature[node] : odd;
        if (!usual) continue;
        steps_[node].second = static_cast<std::uint32_t>(tree.child[begin + 1]);
        missing_[node] = static_cast<std::int8_t>(branch_of_missing(tree, node));
    }
}

}  // namespace ramify
