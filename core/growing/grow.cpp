#include "growing/grow.hpp"

#include <utility>

#include "common/parallel.hpp"
#include "growing/engine.hpp"
#include "growing/general_search.hpp"
#include "single_target/counting.hpp"
#include "single_target/rare_class.hpp"
#include "tree/known_shares.hpp"
#include "tree/prune.hpp"
#include "tree/prune_pessimistic.hpp"

namespace ramify {

namespace {

/// What happens to a grown tree, in this order.
struct Passes {
    bool inherits;     // nodes that know nothing of a target or label follow the node above
    bool merges;       // leaves that predict the same
    bool prunes;       // leaves that promise no fewer errors
    bool keeps_inner;  // predictions of inner nodes

    Passes(const Targets& targets, const GrowOptions& options)
        : inherits(
              targets.unknown != nullptr ||
              (targets.table != nullptr && targets.table->any_unknown && targets.table->inherit)),
          merges(inherits || options.merging != LeafMerging::none),
          prunes(options.pessimism.confidence > 0),
          keeps_inner(options.inner_values || prunes) {}
};

Tree grow_and_pass(const Dataset& dataset, const Targets& targets, NodeRows root,
                   const GrowOptions& options, Engine engine, StopSignal& signal) {
    const Passes passes(targets, options);
    GrowOptions growth = options;
    growth.engine = engine;
    growth.inner_values |= passes.inherits;
    Tree tree =
        grow_general(dataset, targets, passes.prunes ? root : std::move(root), growth, signal);
    if (targets.unknown != nullptr) {
        tree = inherit_shares(tree, *targets.unknown, targets.n_labels());
    } else if (passes.inherits) {
        tree = inherit_values(tree, *targets.table);
    }
    if (passes.merges) {
        tree = merge_leaves(tree, options.merging, passes.keeps_inner, targets.table);
    }
    if (passes.prunes) tree = prune_pessimistic(tree, dataset, targets, root, options, signal);
    return tree;
}

}  // namespace

Tree grow(const Dataset& dataset, const Targets& targets, NodeRows root,
          const GrowOptions& options) {
    StopSignal signal(options.interrupted);
    const Engine engine = choose_engine(dataset, targets, root, options);
    switch (engine) {
        case Engine::counting:
            return grow_single_target<CountingSearch>(dataset, targets, root, options, signal);
        case Engine::rare_class:
            return grow_single_target<RareClassSearch>(dataset, targets, root, options, signal);
        case Engine::automatic:
        case Engine::general:
        case Engine::few_labels:
            break;
    }
    return grow_and_pass(dataset, targets, std::move(root), options, engine, signal);
}

}  // namespace ramify
