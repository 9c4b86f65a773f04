// Distributes the nodes of a growing tree over threads.
//
// Large nodes are grown first, one after the other, each with its features divided among the
// threads. Small nodes are set aside and grown afterwards, each with its subtree on one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "tree/builder.hpp"

namespace ramify {

/// Nodes with fewer pairs of a row and a feature are not worth dividing among threads.
inline constexpr std::size_t min_shared_work = 200'000;

/// One grower per thread. A grower has these members:
///   Node                         a node to be grown, with size(), weight and place
///   work(node)                   pairs of a row and a feature
///   expect(root, tree)           reserves memory for the subtree of `root`
///   set_aside(node)              frees what the node does not need until it is grown
///   expand(node, id, tree, stack, crew)
///                                makes the node a leaf, or an inner node whose children it
///                                pushes onto the stack, the last first; a crew, if there is
///                                one, helps with large nodes
template <typename Grower>
using Crew = std::vector<std::unique_ptr<Grower>>;

/// Grows the subtree of `root` depth first. Small nodes are moved to `small`, if given, and
/// replaced by placeholders.
template <typename Grower>
TreeBuilder grow_subtree(Grower& grower, typename Grower::Node root, StopSignal& signal,
                         Crew<Grower>* crew = nullptr,
                         std::vector<typename Grower::Node>* small = nullptr) {
    TreeBuilder tree;
    grower.expect(root, tree);
    std::vector<typename Grower::Node> stack;
    stack.push_back(std::move(root));
    while (!stack.empty()) {
        signal.check();
        typename Grower::Node node = std::move(stack.back());
        stack.pop_back();
        const auto id = tree.add_node(node.place, node.weight, node.size());
        if (small != nullptr && grower.work(node) < min_shared_work) {
            node.place = {};
            grower.set_aside(node);
            tree.mark_deferred(id, small->size());
            small->push_back(std::move(node));
        } else {
            grower.expand(std::move(node), id, tree, stack, crew);
        }
    }
    return tree;
}

/// Grows the tree of `root` with as many threads as there are growers.
template <typename Grower>
Tree grow_tree(Crew<Grower>& crew, typename Grower::Node root, StopSignal& signal) {
    if (crew.size() == 1) return grow_subtree(*crew[0], std::move(root), signal).finish({});
    std::vector<typename Grower::Node> small;
    TreeBuilder top = grow_subtree(*crew[0], std::move(root), signal, &crew, &small);
    std::vector<TreeBuilder> below(small.size());
    parallel_for(static_cast<unsigned>(crew.size()), small.size(), signal,
                 [&](unsigned thread, std::size_t i) {
                     below[i] = grow_subtree(*crew[thread], std::move(small[i]), signal);
                 });
    return std::move(top).finish(below);
}

}  // namespace ramify
