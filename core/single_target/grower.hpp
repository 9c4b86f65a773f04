// Grows trees for a single target: one label, or one class per row.
//
// With a single target the rows of a node that share a value of a feature reduce to a few counts,
// so that tests are found without keeping rows in the order of each feature. How they are found is
// left to a search (counting.hpp, rare_class.hpp); everything else is the same and stands here.
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
#include "growing/crew.hpp"
#include "growing/options.hpp"
#include "growing/split.hpp"
#include "tree/builder.hpp"

namespace ramify {

/// What the search of one feature in one node found.
enum class Found : std::uint8_t {
    constant,  // the feature is constant in the node, and in all nodes below
    nothing,   // no test with a score above the one to beat
    test,
};

/// The search for tests. One per thread; Shared is what the searches of one tree have in common.
///
/// A Node holds the rows of a node and their sums. Its `summary` speeds up the search of all
/// features; the summary of a branch is that of the node without the other branch.
/// Gains and scores compete within a feature as if it were the only one, so that the best test of
/// a feature does not depend on the features searched before.
template <typename S>
concept SingleTargetSearch = requires(
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

template <SingleTargetSearch Search>
class SingleTargetGrower {
  public:
    /// A node to be grown.
    struct Node {
        typename Search::Node rows;
        std::vector<std::uint32_t> features;  // those that were not constant in the parent
        double weight = 0;
        std::int64_t depth = 0;
        Place place;
        bool splittable = false;

        std::size_t size() const { return rows.size(); }
    };

    SingleTargetGrower(const typename Search::Shared& shared, const GrowOptions& options,
                       StopSignal& signal)
        : options_(options), signal_(signal), search_(shared) {}

    Node make_root(const NodeRows& rows, std::size_t n_features) const;
    std::size_t work(const Node& node) const { return node.size() * node.features.size(); }
    void expect(const Node&, TreeBuilder&) const {}
    /// Summaries are large, and nodes set aside are many: they are made again.
    void set_aside(Node& node) const { node.rows.summary = {}; }
    void expand(Node node, std::int32_t id, TreeBuilder& tree, std::vector<Node>& stack,
                Crew<SingleTargetGrower>* crew);

  private:
    using Test = typename Search::Test;
    using View = decltype(std::declval<Search&>().begin(std::declval<typename Search::Node&>()));

    void weigh(Node& node) const;
    bool find_split(Node& node, Crew<SingleTargetGrower>* crew);
    void search_alone(const View& view, Node& node);
    void search_together(const View& view, Node& node, Crew<SingleTargetGrower>& crew);
    void summarise(Node& node, Crew<SingleTargetGrower>* crew);
    void hand_down(Node& node, Node& first, Node& second, Crew<SingleTargetGrower>* crew);
    void split(Node& node, std::int32_t id, std::vector<Node>& stack,
               Crew<SingleTargetGrower>* crew);
    template <typename Task>
    void for_features(const std::vector<std::uint32_t>& features, std::size_t n_rows,
                      Crew<SingleTargetGrower>* crew, Task task);
    /// A feature of a node this small is searched in far less than a millisecond.
    void check_signal(const Node& node) const {
        if (node.size() > 1000) signal_.check();
    }

    const GrowOptions& options_;
    StopSignal& signal_;
    Search search_;
    Test test_;  // of the current node
    Test trial_;
    Split split_;
    std::vector<LabelSum> values_;
};

template <SingleTargetSearch Search>
auto SingleTargetGrower<Search>::make_root(const NodeRows& rows, std::size_t n_features) const
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

template <SingleTargetSearch Search>
void SingleTargetGrower<Search>::weigh(Node& node) const {
    node.weight = node.rows.weight();
    node.splittable = options_.may_split(node.depth, node.rows.n_rows(), node.weight) &&
                      search_.is_impure(node.rows);
}

template <SingleTargetSearch Search>
void SingleTargetGrower<Search>::expand(Node node, std::int32_t id, TreeBuilder& tree,
                                        std::vector<Node>& stack, Crew<SingleTargetGrower>* crew) {
    const double factor = options_.rules.score_factor;
    tree.set_impurity(id, search_.impurity(node.rows) * factor, node.weight);
    if (node.splittable && find_split(node, crew)) {
        tree.set_split(id, split_, factor);
        split(node, id, stack, crew);
    } else {
        search_.list_values(node.rows, values_);
        tree.set_values(id, values_, node.weight);
    }
}

template <SingleTargetSearch Search>
bool SingleTargetGrower<Search>::find_split(Node& node, Crew<SingleTargetGrower>* crew) {
    if (node.rows.summary.empty() && search_.summary_pays(node.rows)) summarise(node, crew);
    const View view = search_.begin(node.rows);
    test_ = {};
    if (crew != nullptr && work(node) >= min_shared_work) {
        search_together(view, node, *crew);
    } else {
        search_alone(view, node);
    }
    if (test_.feature < 0) return false;
    split_ = search_.as_split(node.rows, test_);
    return reaches(split_.gain * options_.rules.score_factor, options_.min_gain);
}

template <SingleTargetSearch Search>
void SingleTargetGrower<Search>::search_alone(const View& view, Node& node) {
    std::erase_if(node.features, [&](std::uint32_t feature) {
        check_signal(node);
        const double beat = test_.score + view.tolerance;
        const Found found = search_.search(view, feature, beat, trial_);
        if (found == Found::test && trial_.score > beat) std::swap(test_, trial_);
        return found == Found::constant;
    });
}

/// Compares the best tests of all features in the order of the features, as search_alone does.
template <SingleTargetSearch Search>
void SingleTargetGrower<Search>::search_together(const View& view, Node& node,
                                                 Crew<SingleTargetGrower>& crew) {
    const std::size_t n = node.features.size();
    std::vector<Test> tests(n);
    std::vector<Found> found(n);
    // The test that features compete with in search_alone may score less than the largest score
    // so far, but by no more than the tolerance.
    std::vector<double> largest(crew.size(), 0.0);
    parallel_for(
        static_cast<unsigned>(crew.size()), n, signal_, [&](unsigned thread, std::size_t i) {
            check_signal(node);
            const double beat = largest[thread] - view.tolerance;
            found[i] = crew[thread]->search_.search(view, node.features[i], beat, tests[i]);
            if (found[i] != Found::test) return;
            largest[thread] = std::max(largest[thread], tests[i].score);
        });
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (found[i] == Found::test && tests[i].score > test_.score + view.tolerance) {
            test_ = std::move(tests[i]);
        }
        if (found[i] != Found::constant) node.features[n_kept++] = node.features[i];
    }
    node.features.resize(n_kept);
}

/// Hands the rows to the branches; the first branch ends up on top of the stack.
template <SingleTargetSearch Search>
void SingleTargetGrower<Search>::split(Node& node, std::int32_t id, std::vector<Node>& stack,
                                       Crew<SingleTargetGrower>* crew) {
    typename Search::Node rows[2];
    search_.divide(node.rows, test_, rows);
    Node branches[2];
    for (std::int32_t b = 0; b < 2; ++b) {
        branches[b].rows = std::move(rows[b]);
        branches[b].features = node.features;
        branches[b].depth = node.depth + 1;
        branches[b].place = {id, b};
        weigh(branches[b]);
    }
    if (!node.rows.summary.empty()) hand_down(node, branches[0], branches[1], crew);
    stack.push_back(std::move(branches[1]));
    stack.push_back(std::move(branches[0]));
}

/// Calls task(search, feature) for all features, on several threads if the node is large.
template <SingleTargetSearch Search>
template <typename Task>
void SingleTargetGrower<Search>::for_features(const std::vector<std::uint32_t>& features,
                                              std::size_t n_rows, Crew<SingleTargetGrower>* crew,
                                              Task task) {
    if (crew == nullptr || n_rows * features.size() < min_shared_work) {
        for (const auto feature : features) task(search_, feature);
        return;
    }
    parallel_for(
        static_cast<unsigned>(crew->size()), features.size(), signal_,
        [&](unsigned thread, std::size_t i) { task((*crew)[thread]->search_, features[i]); });
}

template <SingleTargetSearch Search>
void SingleTargetGrower<Search>::summarise(Node& node, Crew<SingleTargetGrower>* crew) {
    const auto listed = search_.list_rows(node.rows);
    node.rows.summary = search_.new_summary();
    for_features(node.features, node.size(), crew, [&](Search& search, std::uint32_t feature) {
        search.add_rows(feature, listed, node.rows.summary);
    });
}

/// Gives the larger branch the summary of the node without the smaller branch.
template <SingleTargetSearch Search>
void SingleTargetGrower<Search>::hand_down(Node& node, Node& first, Node& second,
                                           Crew<SingleTargetGrower>* crew) {
    Node& small = first.size() < second.size() ? first : second;
    Node& large = &small == &first ? second : first;
    if (!large.splittable || !search_.summary_pays(large.rows) || !small.rows.is_exact()) return;
    const auto listed = search_.list_rows(small.rows);
    auto part = search_.new_part();
    for_features(node.features, small.size(), crew, [&](Search& search, std::uint32_t feature) {
        search.take_out(feature, listed, node.rows.summary, part);
    });
    large.rows.summary = std::move(node.rows.summary);
    if (search_.summary_pays(small.rows)) small.rows.summary = std::move(part);
}

/// Grows a tree with a search of the given kind.
template <SingleTargetSearch Search>
Tree grow_single_target(const Dataset& dataset, const Targets& targets, const NodeRows& root,
                        const GrowOptions& options, StopSignal& signal) {
    using Grower = SingleTargetGrower<Search>;
    const typename Search::Shared shared(dataset, targets, options.rules);
    Crew<Grower> crew;
    for (unsigned t = 0; t < std::max(1u, options.n_threads); ++t) {
        crew.push_back(std::make_unique<Grower>(shared, options, signal));
    }
    return grow_tree(crew, crew[0]->make_root(root, dataset.features.size()), signal);
}

}  // namespace ramify
