// Grows trees node by node, whatever searches for the tests.
//
// Large nodes are grown first, one after the other, each with its features divided among the
// threads. Small nodes are set aside and grown afterwards, each with its subtree on one thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "common/tolerance.hpp"
#include "growing/options.hpp"
#include "growing/scoring.hpp"
#include "growing/split.hpp"
#include "tree/builder.hpp"

namespace ramify {

/// Nodes with fewer pairs of a row and a feature are not worth dividing among threads.
inline constexpr std::size_t min_shared_work = 200'000;

/// What the search of one feature in one node found.
enum class Found : std::uint8_t {
    constant,  // the feature is constant in the node, and in all nodes below
    nothing,   // no test with a score above the one to beat
    test,
};

/// One search per thread.
template <typename Search>
using Crew = std::vector<std::unique_ptr<Search>>;

/// The searches that work on one node: those of all threads, or a single one.
template <typename Search>
class Team {
  public:
    explicit Team(Search& search) : searches_{&search} {}
    explicit Team(const Crew<Search>& crew) {
        for (const auto& search : crew) searches_.push_back(search.get());
    }

    std::size_t size() const { return searches_.size(); }
    Search& operator[](std::size_t thread) const { return *searches_[thread]; }
    /// Whether so many pairs of a row and a feature are worth dividing.
    bool divides(std::size_t n_pairs) const { return size() > 1 && n_pairs >= min_shared_work; }
    /// Calls task(search, thread, i) for all i below n, which stand for `n_pairs` altogether.
    template <typename Task>
    void for_each(std::size_t n, std::size_t n_pairs, StopSignal& signal, Task task) const {
        const auto n_threads = divides(n_pairs) ? static_cast<unsigned>(size()) : 1U;
        parallel_for(n_threads, n, signal,
                     [&](unsigned thread, std::size_t i) { task(*searches_[thread], thread, i); });
    }

  private:
    std::vector<Search*> searches_;
};

/// The search for the tests of one node after the other. One per thread.
///
/// Its types: Node, a node to be grown; Test, with feature (-1: none) and score; View, a node that
/// one search has prepared for those of all threads.
template <typename S>
concept TestSearch =
    requires(S search, typename S::Node& node, typename S::Test& test,
             const typename S::View& view, const Team<S>& team,
             std::vector<typename S::Node>& stack, std::span<typename S::Node> children,
             std::span<typename S::Test> tests, TreeBuilder& tree, std::int32_t id, double score) {
        { node.size() } -> std::same_as<std::size_t>;
        { node.weight } -> std::convertible_to<double>;
        { node.place } -> std::convertible_to<Place>;
        { node.splittable } -> std::convertible_to<bool>;
        { test.feature } -> std::convertible_to<std::int32_t>;
        { test.score } -> std::convertible_to<double>;
        // Reserves memory for the subtree of a node; frees what it does not need until it is
        // grown; takes back its memory. Pairs of a row and a feature to search.
        search.expect(node, tree);
        search.set_aside(node);
        search.put_back(std::move(node));
        { search.n_pairs(node) } -> std::same_as<std::size_t>;
        // Prepares a node; prepares the search of another thread for it. What is to be searched:
        // the grower removes the tasks of constant features.
        { search.begin(node, team) } -> std::same_as<typename S::View>;
        search.join(view);
        search.tasks(node).size();
        { search.competition() } -> std::same_as<Competition>;
        // What a score must exceed to be better than this one, and what it must exceed lest it be
        // worse for certain than this one, found by the same thread for any feature.
        { search.beat(view, score) } -> std::same_as<double>;
        { search.beat_for_certain(view, score) } -> std::same_as<double>;
        // Writes the best test of a task if its score may exceed the one to beat.
        { search.search(view, *search.tasks(node).begin(), score, test) } -> std::same_as<Found>;
        // After all tasks.
        search.finish(view, test);
        // A node that becomes a leaf, or keeps its values; one that is split.
        search.describe(node, id, tree);
        { search.impurity(node) } -> std::convertible_to<double>;
        { search.as_split(node, test) } -> std::convertible_to<const Split&>;
        // Pushes the branches, the last first, and gives them what their searches need.
        search.divide(node, test, stack);
        search.hand_down(node, children, team);
    };

template <typename Search>
class Grower {
  public:
    using Node = typename Search::Node;

    /// The first of the team grows, the others help with large nodes.
    Grower(Team<Search> team, const GrowOptions& options, StopSignal& signal)
        : team_(std::move(team)), search_(team_[0]), options_(options), signal_(signal) {}

    /// Grows the subtree of `root` depth first. Small nodes are moved to `small`, if given, and
    /// replaced by placeholders.
    TreeBuilder grow(Node root, std::vector<Node>* small = nullptr);

  private:
    using Test = typename Search::Test;
    using View = typename Search::View;

    void expand(Node& node, std::int32_t id);
    bool find_split(Node& node);
    void search_alone(const View& view, Node& node);
    void search_together(const View& view, Node& node);
    void choose(const View& view, std::span<Test> tests);
    void split(Node& node, std::int32_t id);
    /// A feature of a node this small is searched in far less than a millisecond.
    void check_signal(const Node& node) const {
        if (node.size() > 1000) signal_.check();
    }

    Team<Search> team_;
    Search& search_;
    const GrowOptions& options_;
    StopSignal& signal_;
    TreeBuilder tree_;
    std::vector<Node> stack_;
    Test best_;  // of the current node
    Test trial_;
    std::vector<Test> tests_;  // per task, if they are compared at the end
};

template <typename Search>
TreeBuilder Grower<Search>::grow(Node root, std::vector<Node>* small) {
    static_assert(TestSearch<Search>);
    search_.expect(root, tree_);
    stack_.push_back(std::move(root));
    while (!stack_.empty()) {
        signal_.check();
        Node node = std::move(stack_.back());
        stack_.pop_back();
        const auto id = tree_.add_node(node.place, node.weight, node.size());
        if (small != nullptr && search_.n_pairs(node) < min_shared_work) {
            node.place = {};
            search_.set_aside(node);
            tree_.mark_deferred(id, small->size());
            small->push_back(std::move(node));
        } else {
            expand(node, id);
            search_.put_back(std::move(node));
        }
    }
    return std::move(tree_);
}

template <typename Search>
void Grower<Search>::expand(Node& node, std::int32_t id) {
    const bool inner = node.splittable && find_split(node);
    if (!inner || options_.keeps_inner_values()) search_.describe(node, id, tree_);
    if (inner) {
        tree_.set_impurity(id, search_.impurity(node), node.weight);
        tree_.set_split(id, search_.as_split(node, best_), options_.rules.score_factor,
                        options_.rules.missing != Missing::branch);
        split(node, id);
    }
}

template <typename Search>
bool Grower<Search>::find_split(Node& node) {
    best_ = {};
    const View view = search_.begin(node, team_);
    if (team_.divides(node.size() * search_.tasks(node).size())) {
        search_together(view, node);
    } else {
        search_alone(view, node);
    }
    search_.finish(view, best_);
    if (best_.feature < 0) return false;
    const double gain = search_.as_split(node, best_).gain;
    return reaches(gain * options_.rules.score_factor, options_.min_gain);
}

template <typename Search>
void Grower<Search>::search_alone(const View& view, Node& node) {
    auto& tasks = search_.tasks(node);
    if (search_.competition() == Competition::by_ratio) {
        tests_.resize(tasks.size());
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            check_signal(node);
            search_.search(view, tasks[i], rejected, tests_[i]);
        }
        choose(view, tests_);
        return;
    }
    const bool in_turn = search_.competition() == Competition::in_turn;
    std::erase_if(tasks, [&](const auto& task) {
        check_signal(node);
        if (in_turn) return search_.search(view, task, rejected, best_) == Found::constant;
        const double beat = search_.beat(view, best_.score);
        const Found found = search_.search(view, task, beat, trial_);
        if (found == Found::test && trial_.score > beat) std::swap(best_, trial_);
        return found == Found::constant;
    });
}

/// Finds the same test as search_alone.
template <typename Search>
void Grower<Search>::search_together(const View& view, Node& node) {
    auto& tasks = search_.tasks(node);
    const std::size_t n = tasks.size();
    std::vector<Test> tests(n);
    std::vector<Found> found(n);
    std::vector<double> largest(team_.size(), Test{}.score);
    for (std::size_t thread = 1; thread < team_.size(); ++thread) team_[thread].join(view);
    team_.for_each(n, node.size() * n, signal_, [&](Search& search, unsigned thread, auto i) {
        check_signal(node);
        const double beat = search.beat_for_certain(view, largest[thread]);
        found[i] = search.search(view, tasks[i], beat, tests[i]);
        if (found[i] == Found::test) {
            largest[thread] = std::max(largest[thread], tests[i].score);
        } else {
            tests[i].feature = -1;
        }
    });
    choose(view, tests);
    std::size_t i = 0;
    std::erase_if(tasks, [&](const auto&) { return found[i++] == Found::constant; });
}

/// Compares the best tests of all features in the order of the features.
template <typename Search>
void Grower<Search>::choose(const View& view, std::span<Test> tests) {
    if constexpr (requires { search_.best_ratio(view, tests); }) {
        if (search_.competition() == Competition::by_ratio) {
            const auto k = search_.best_ratio(view, tests);
            if (k < tests.size()) std::swap(best_, tests[k]);
            return;
        }
    }
    for (Test& test : tests) {
        if (test.feature >= 0 && test.score > search_.beat(view, best_.score)) {
            best_ = std::move(test);
        }
    }
}

/// Hands the rows to the branches; the first branch ends up on top of the stack.
template <typename Search>
void Grower<Search>::split(Node& node, std::int32_t id) {
    const std::size_t n_waiting = stack_.size();
    search_.divide(node, best_, stack_);
    const auto children = std::span(stack_).subspan(n_waiting);
    auto branch = static_cast<std::int32_t>(children.size());
    for (Node& child : children) child.place = {id, --branch};
    search_.hand_down(node, children, team_);
}

/// Grows the tree of `root` with as many threads as there are searches.
template <typename Search>
Tree grow_tree(const Crew<Search>& crew, typename Search::Node root, const GrowOptions& options,
               StopSignal& signal) {
    const auto alone = [&](std::size_t thread) {
        return Grower<Search>(Team<Search>(*crew[thread]), options, signal);
    };
    if (crew.size() == 1) return alone(0).grow(std::move(root)).finish({});
    std::vector<typename Search::Node> small;
    TreeBuilder top =
        Grower<Search>(Team<Search>(crew), options, signal).grow(std::move(root), &small);
    std::vector<TreeBuilder> below(small.size());
    parallel_for(static_cast<unsigned>(crew.size()), small.size(), signal,
                 [&](unsigned thread, std::size_t i) {
                     below[i] = alone(thread).grow(std::move(small[i]));
                 });
    return std::move(top).finish(below);
}

}  // namespace ramify
