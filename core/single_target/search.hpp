// Grows trees for a single target: one label, or one class per row.
//
// With a single target the rows of a node that share a value of a feature reduce to a few counts,
// so that tests are found without keeping rows in the order of each feature. How they are found in
// one feature is left to counting.hpp and rare_class.hpp; what they share stands here.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "common/tolerance.hpp"
#include "data/dataset.hpp"
#include "data/label_sums.hpp"
#include "data/targets.hpp"
#include "growing/grower.hpp"
#include "growing/options.hpp"
#include "growing/split.hpp"
#include "tree/builder.hpp"

namespace ramify {

/// The search of one feature. One per thread; Shared is what the searches of one tree have in
/// common.
///
/// A Node holds the rows of a node and their sums. Its `summary` speeds up the search of all
/// features; the summary of a branch is that of the node without the other branch.
/// Gains and scores compete within a feature as if it were the only one, so that the best test of
/// a feature does not depend on the features searched before.
template <typename S>
concept FeatureSearch = requires(
    S search, const S& view, const typename S::Shared& shared, typename S::Node& node,
    typename S::Test& test, typename S::Summary& summary, const NodeRows& rows,
    std::uint32_t feature, std::vector<LabelSum>& sums, std::span<typename S::Node, 2> two) {
    S(shared);
    { view.make_root(rows) } -> std::same_as<typename S::Node>;
    // Of a node: entries, rows counted in parts, weight; whether its rows can be taken out of
    // the summary of the node above; whether a test could have a gain; weight times impurity.
    { node.size() } -> std::same_as<std::size_t>;
    { node.n_rows() } -> std::convertible_to<double>;
    { node.weight() } -> std::convertible_to<double>;
    { node.is_exact() } -> std::same_as<bool>;
    { view.is_impure(node) } -> std::same_as<bool>;
    { view.impurity(node) } -> std::convertible_to<double>;
    view.list_values(node, sums);
    // Searching: `begin` prepares a node for the searches of all threads; `search` writes the
    // best test of a feature if its score may exceed `beat`.
    { search.begin(node).tolerance } -> std::convertible_to<double>;
    { search.search(search.begin(node), feature, 0.0, test) } -> std::same_as<Found>;
    { test.feature } -> std::convertible_to<std::int32_t>;
    { test.score } -> std::convertible_to<double>;
    // Splitting.
    { view.as_split(node, test) } -> std::same_as<Split>;
    view.divide(node, test, two);
    // Summaries: `add_rows` adds listed rows to the cells of a feature, `take_out` removes
    // them from the first summary and may leave their own in the second.
    { view.summary_pays(node) } -> std::same_as<bool>;
    { view.new_summary() } -> std::same_as<typename S::Summary>;
    { view.new_part() } -> std::same_as<typename S::Summary>;
    search.add_rows(feature, search.list_rows(node), summary);
    search.take_out(feature, search.list_rows(node), summary, summary);
};

/// Implements TestSearch: which features can still be tested in a node, and when summaries pay.
template <FeatureSearch Search>
class SingleTargetSearch {
  public:
    struct Node {
        typename Search::Node rows;
        std::vector<std::uint32_t> features;  // those that were not constant in the parent
        double weight = 0;
        std::int64_t depth = 0;
        Place place;
        bool splittable = false;

        std::size_t size() const { return rows.size(); }
    };
    using Test = typename Search::Test;
    using View = typename Search::View;

    SingleTargetSearch(const typename Search::Shared& shared, const GrowOptions& options,
                       StopSignal& signal)
        : options_(options), signal_(signal), search_(shared) {}

    Node make_root(const NodeRows& rows, std::size_t n_features) const;
    void expect(const Node&, TreeBuilder&) const {}
    /// Summaries are large, and nodes set aside are many: they are made again.
    void set_aside(Node& node) const { node.rows.summary = {}; }
    void put_back(Node&&) const {}
    std::size_t n_pairs(const Node& node) const { return node.size() * node.features.size(); }

    View begin(Node& node, const Team<SingleTargetSearch>& team);
    void join(const View&) const {}
    std::vector<std::uint32_t>& tasks(Node& node) const { return node.features; }
    Competition competition() const { return Competition::apart; }
    double beat(const View& view, double score) const { return score + view.tolerance; }
    /// The test that features compete with, one after the other, may score less than the largest
    /// score so far, but by no more than the tolerance.
    double beat_for_certain(const View& view, double score) const {
        return score - view.tolerance;
    }
    Found search(const View& view, std::uint32_t feature, double beat, Test& found) {
        return search_.search(view, feature, beat, found);
    }
    void finish(const View&, const Test&) const {}

    void describe(const Node& node, std::int32_t id, TreeBuilder& tree);
    double impurity(const Node& node) const {
        return search_.impurity(node.rows) * options_.rules.score_factor;
    }
    Split as_split(const Node& node, const Test& test) const {
        return search_.as_split(node.rows, test);
    }
    void divide(const Node& node, const Test& test, std::vector<Node>& stack);
    void hand_down(Node& node, std::span<Node> children, const Team<SingleTargetSearch>& team);

  private:
    void weigh(Node& node) const;
    void summarise(Node& node, const Team<SingleTargetSearch>& team);

    const GrowOptions& options_;
    StopSignal& signal_;
    Search search_;
    std::vector<LabelSum> values_;
};

template <FeatureSearch Search>
auto SingleTargetSearch<Search>::make_root(const NodeRows& rows, std::size_t n_features) const
    -> Node {
    Node root;
    root.rows = search_.make_root(rows);
    root.features.resize(n_features);
    std::iota(root.features.begin(), root.features.end(), 0u);
    std::erase_if(root.features,
                  [&](std::uint32_t f) { return std::cmp_equal(f, options_.hidden_feature); });
    weigh(root);
    return root;
}

template <FeatureSearch Search>
void SingleTargetSearch<Search>::weigh(Node& node) const {
    node.weight = node.rows.weight();
    node.splittable = options_.may_split(node.depth, node.rows.n_rows(), node.weight) &&
                      search_.is_impure(node.rows);
}

template <FeatureSearch Search>
auto SingleTargetSearch<Search>::begin(Node& node, const Team<SingleTargetSearch>& team) -> View {
    if (node.rows.summary.empty() && search_.summary_pays(node.rows)) summarise(node, team);
    return search_.begin(node.rows);
}

template <FeatureSearch Search>
void SingleTargetSearch<Search>::summarise(Node& node, const Team<SingleTargetSearch>& team) {
    const auto listed = search_.list_rows(node.rows);
    node.rows.summary = search_.new_summary();
    team.for_each(node.features.size(), n_pairs(node), signal_,
                  [&](SingleTargetSearch& member, unsigned, std::size_t i) {
                      member.search_.add_rows(node.features[i], listed, node.rows.summary);
                  });
}

template <FeatureSearch Search>
void SingleTargetSearch<Search>::describe(const Node& node, std::int32_t id, TreeBuilder& tree) {
    tree.set_impurity(id, impurity(node), node.weight);
    search_.list_values(node.rows, values_);
    tree.set_values(id, values_, node.weight);
}

template <FeatureSearch Search>
void SingleTargetSearch<Search>::divide(const Node& node, const Test& test,
                                        std::vector<Node>& stack) {
    typename Search::Node rows[2];
    search_.divide(node.rows, test, rows);
    for (std::size_t b = 2; b-- > 0;) {
        Node branch;
        branch.rows = std::move(rows[b]);
        branch.features = node.features;
        branch.depth = node.depth + 1;
        weigh(branch);
        stack.push_back(std::move(branch));
    }
}

/// Gives the larger branch the summary of the node without the smaller branch.
template <FeatureSearch Search>
void SingleTargetSearch<Search>::hand_down(Node& node, std::span<Node> children,
                                           const Team<SingleTargetSearch>& team) {
    if (node.rows.summary.empty()) return;
    const bool first_smaller = children[1].size() < children[0].size();
    Node& small = children[first_smaller ? 1 : 0];
    Node& large = children[first_smaller ? 0 : 1];
    if (!large.splittable || !search_.summary_pays(large.rows) || !small.rows.is_exact()) return;
    const auto listed = search_.list_rows(small.rows);
    auto part = search_.new_part();
    team.for_each(node.features.size(), n_pairs(small), signal_,
                  [&](SingleTargetSearch& member, unsigned, std::size_t i) {
                      member.search_.take_out(node.features[i], listed, node.rows.summary, part);
                  });
    large.rows.summary = std::move(node.rows.summary);
    if (search_.summary_pays(small.rows)) small.rows.summary = std::move(part);
}

/// Grows a tree with a search of the given kind.
template <FeatureSearch Search>
Tree grow_single_target(const Dataset& dataset, const Targets& targets, const NodeRows& root,
                        const GrowOptions& options, StopSignal& signal) {
    const typename Search::Shared shared(dataset, targets, options.rules);
    Crew<SingleTargetSearch<Search>> crew;
    for (unsigned t = 0; t < std::max(1u, options.n_threads); ++t) {
        crew.push_back(std::make_unique<SingleTargetSearch<Search>>(shared, options, signal));
    }
    return grow_tree(crew, crew[0]->make_root(root, dataset.features.size()), options, signal);
}

}  // namespace ramify
