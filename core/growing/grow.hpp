// The induction loop: from rows and labels to a tree.
#pragma once

#include <cstdint>
#include <functional>

#include "data/dataset.hpp"
#include "data/targets.hpp"
#include "growing/splitter.hpp"
#include "tree/tree.hpp"

namespace ramify {

enum class Criterion : std::uint8_t { variance, entropy, class_entropy, distance };

/// What a leaf predicts.
enum class Prototype : std::uint8_t {
    mean,    // for each label the share of the rows that have it
    medoid,  // the label set of one of its rows
};

/// When an inner node whose branches are all leaves becomes a leaf itself (CLUS).
enum class LeafMerging : std::uint8_t {
    none,
    equal,        // all leaves have the same vector
    same_labels,  // all leaves have the same labels at 0.5 or more
};

/// How pessimistic pruning judges leaves.
struct Pessimism {
    double confidence = 0;  // of the limit for errors; 0: no pruning
    double z = 0;           // the normal quantile of 1 - confidence
};

struct GrowOptions {
    Criterion criterion = Criterion::variance;
    SplitRules rules;
    std::int64_t max_depth = -1;   // tests on a path; negative: no limit
    double min_samples_split = 2;  // rows, in parts
    double min_gain = 0;           // smallest gain (a mass) of a test
    std::size_t max_features = 0;  // features tried per node; 0: all
    bool redraw = false;           // a node without a test goes on drawing until one splits it
    std::int64_t hidden = -1;      // a feature that is never tested; -1: none
    LeafMerging merging = LeafMerging::none;
    Prototype prototype = Prototype::mean;
    bool inner_values = false;  // inner nodes carry values too, for later pruning
    bool average_gain = false;  // features compete by gain ratio, if their gain is not below mean
    Pessimism pessimism;        // pruning that needs inner values
    std::uint64_t seed = 0;
    bool java_random = false;  // features drawn as CLUS does, the seed being the generator's state
    unsigned n_threads = 1;
    std::function<bool()> interrupted;  // asked about twenty times a second
};

/// Grows a tree on `root`. The same tree for any number of threads: every node's test depends on
/// its rows and its place in the tree alone. Throws Interrupted.
Tree grow(const Dataset& dataset, const Targets& targets, NodeRows root,
          const GrowOptions& options);

}  // namespace ramify
