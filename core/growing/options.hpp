// The options of tree growing and their defaults.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/tolerance.hpp"

namespace ramify {

/// The names of the choices of an option.
template <typename T>
struct Names;

/// The impurity that tests reduce.
enum class Criterion : std::uint8_t { variance, entropy, class_entropy, distance };

template <>
struct Names<Criterion> {
    static constexpr std::pair<const char*, Criterion> values[] = {
        {"variance", Criterion::variance},
        {"entropy", Criterion::entropy},
        {"class_entropy", Criterion::class_entropy},
        {"distance", Criterion::distance}};
};

/// What a leaf predicts.
enum class Prototype : std::uint8_t {
    mean,    // for each label the share of the rows that have it
    medoid,  // the label set of one of its rows
};

template <>
struct Names<Prototype> {
    static constexpr std::pair<const char*, Prototype> values[] = {{"mean", Prototype::mean},
                                                                   {"medoid", Prototype::medoid}};
};

/// When an inner node whose children are all leaves becomes a leaf itself (CLUS).
enum class LeafMerging : std::uint8_t {
    none,
    equal,         // all leaves have the same vector
    same_labels,   // all leaves have the same labels at 0.5 or more
    same_classes,  // the most frequent class of every nominal target is the same in all leaves
};

template <>
struct Names<LeafMerging> {
    static constexpr std::pair<const char*, LeafMerging> values[] = {
        {"none", LeafMerging::none},
        {"equal", LeafMerging::equal},
        {"same_labels", LeafMerging::same_labels},
        {"same_classes", LeafMerging::same_classes}};
};

enum class NominalTests : std::uint8_t {
    subset,  // x in a set of categories, found greedily
    single,  // x = one category
    nary,    // one branch per category
};

template <>
struct Names<NominalTests> {
    static constexpr std::pair<const char*, NominalTests> values[] = {
        {"subset", NominalTests::subset},
        {"single", NominalTests::single},
        {"nary", NominalTests::nary}};
};

/// Where rows go whose value is missing at a test.
enum class Missing : std::uint8_t {
    learn,   // as "branch" where they differ from other rows, else as "divide"
    branch,  // down the branch that makes the test better
    divide,  // down every branch, in part (CLUS)
};

template <>
struct Names<Missing> {
    static constexpr std::pair<const char*, Missing> values[] = {
        {"learn", Missing::learn}, {"branch", Missing::branch}, {"divide", Missing::divide}};
};

/// Which implementation grows the tree; see engine.hpp.
enum class Engine : std::uint8_t {
    automatic,   // the fastest that supports the options and the data
    general,     // any number of labels, any options
    few_labels,  // few labels, of which each row has few
    counting,    // one label
    rare_class,  // one class per row, most rows in the same class
};

template <>
struct Names<Engine> {
    static constexpr std::pair<const char*, Engine> values[] = {
        {"auto", Engine::automatic},
        {"general", Engine::general},
        {"few_labels", Engine::few_labels},
        {"counting", Engine::counting},
        {"rare_class", Engine::rare_class}};
};

/// Which tests are allowed and how they are scored.
struct SplitRules {
    double min_weight = 0;        // per branch
    double min_samples_leaf = 1;  // rows per branch; divided rows count in parts
    bool midpoint = true;  // thresholds halfway between two values, or at the smaller of them
    bool random_thresholds = false;  // one random test per feature instead of all
    NominalTests nominal_tests = NominalTests::subset;
    Missing missing = Missing::learn;
    bool c45 = false;         // C4.5: see ScanSplitter::numeric_rows() and choose_by_ratio()
    bool gain_ratio = false;  // divide scores by the split information
    bool mean_score = false;  // divide scores by the weight of the node (CLUS)
    double score_factor = 1;
    std::vector<double> f_critical;  // F-test: critical value by degrees of freedom; empty: none
    // CLUS compares scores with absolute tolerances, in the order of features and candidates.
    bool clus = false;
    double clus_floor = 1e-9;
    double clus_step = 1e-6;
};

/// Pessimistic pruning of leaves.
struct Pessimism {
    double confidence = 0;  // of the upper limit for errors; 0: no pruning
    double z = 0;           // the normal quantile of 1 - confidence
    bool exclusive = true;  // one class per row; if not, errors are means over the labels
};

struct GrowOptions {
    Criterion criterion = Criterion::variance;
    SplitRules rules;
    Engine engine = Engine::automatic;
    std::int64_t max_depth = -1;   // tests on a path; negative: no limit
    double min_samples_split = 2;  // rows; divided rows count in parts
    double min_gain = 0;           // smallest gain of a test: weight times decrease in impurity
    std::size_t max_features = 0;  // features searched per node; 0: all
    bool redraw = false;           // draw further features until one splits the node
    std::int64_t hidden_feature = -1;  // a feature that is never tested; -1: none
    LeafMerging merging = LeafMerging::none;
    Prototype prototype = Prototype::mean;
    bool inner_values = false;  // keep predictions of inner nodes too, for pruning
    bool sums = false;          // leaves store weights of labels in place of shares
    Pessimism pessimism;
    std::uint64_t seed = 0;
    bool java_random = false;  // draw features as CLUS does; the seed is the generator's state
    unsigned n_threads = 1;
    std::function<bool()> interrupted;  // called about twenty times a second

    bool uses_all_features(std::size_t n_features) const {
        return max_features == 0 || max_features >= n_features;
    }
    bool keeps_inner_values() const {
        return inner_values || merging != LeafMerging::none || pessimism.confidence > 0;
    }
    /// Whether a node at this depth, with `n_rows` rows counted in parts, is large enough to
    /// split.
    bool may_split(std::int64_t depth, double n_rows, double weight) const {
        const double min_rows = std::max(min_samples_split, 2 * rules.min_samples_leaf);
        return (max_depth < 0 || depth < max_depth) && reaches(n_rows, min_rows) &&
               (rules.clus ? weight >= 2 * rules.min_weight
                           : reaches(weight, 2 * rules.min_weight));
    }
};

}  // namespace ramify
