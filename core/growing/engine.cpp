#include "growing/engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "criteria/few_labels.hpp"
#include "single_target/rare_class.hpp"

namespace ramify {

namespace {

/// What the search for the largest decrease in variance over all features does not support.
std::optional<std::string> not_plain(const Dataset& dataset, const GrowOptions& options) {
    const SplitRules& rules = options.rules;
    if (options.criterion != Criterion::variance) return "criterion must be variance";
    if (rules.clus) return "clus must be off";
    if (rules.random_thresholds) return "random_thresholds must be off";
    if (rules.gain_ratio || rules.mean_score || rules.c45) return "scores must be gains";
    if (!options.uses_all_features(dataset.features.size())) return "max_features must be all";
    if (options.prototype != Prototype::mean) return "prototype must be mean";
    if (options.keeps_inner_values()) return "inner nodes must not keep values";
    if (options.sums) return "leaves must store shares";
    if (dataset.codes->of(dataset).empty()) {
        return "features must have few enough values, and zeros must not prevail";
    }
    return {};
}

std::optional<std::string> not_counting(const Dataset& dataset, const Targets& targets,
                                        const GrowOptions& options) {
    if (targets.n_labels() != 1) return "there must be one label";
    if (targets.unknown != nullptr) return "all labels must be known";
    if (options.rules.nominal_tests == NominalTests::nary && dataset.has(FeatureKind::nominal)) {
        return "nominal_tests must not be nary";
    }
    return not_plain(dataset, options);
}

/// Whether every row has one class, and at least half of the rows have the same.
bool one_class_prevails(const Targets& targets, const NodeRows& root) {
    const std::size_t n_labels = targets.n_labels();
    std::vector<std::size_t> total(n_labels + 1, 0);  // the last: rows without a label
    for (const auto row : root.row) {
        const auto labels = targets.labels.row(row);
        if (labels.size() > 1 || (n_labels > 1 && labels.empty())) return false;
        ++total[labels.empty() ? n_labels : static_cast<std::size_t>(labels[0])];
    }
    return 2 * *std::ranges::max_element(total) >= root.size();
}

std::optional<std::string> not_rare_class(const Dataset& dataset, const Targets& targets,
                                          const NodeRows& root, const GrowOptions& options) {
    const SplitRules& rules = options.rules;
    const auto is_one = [](double x) { return x == 1; };
    const auto differs = [&](double weight) { return weight != targets.label_weight[0]; };
    if (targets.n_labels() == 0 || targets.n_labels() > RareClassSearch::max_classes) {
        return "there must be from 1 to 256 labels";
    }
    if (targets.unknown != nullptr) return "all labels must be known";
    if (std::ranges::any_of(targets.label_weight, differs)) return "label weights must be equal";
    if (dataset.n_rows > RareClassSearch::max_rows) return "there must be at most 16384 rows";
    if (!rules.f_critical.empty()) return "there must be no F-test";
    if (rules.min_samples_leaf > 1) return "min_samples_leaf must be at most 1";
    if (rules.min_weight > 1) return "min_weight must be at most 1";
    if (dataset.has(FeatureKind::nominal)) return "all features must be numeric";
    if (dataset.any_missing) return "no value must be missing";
    if (!std::ranges::all_of(root.weight, is_one) || !std::ranges::all_of(root.part, is_one)) {
        return "all rows must have weight 1";
    }
    if (!one_class_prevails(targets, root)) {
        return "each row must have one class, and at least half of the rows the same";
    }
    return not_plain(dataset, options);
}

std::optional<std::string> not_few_labels(const Targets& targets, const NodeRows& root,
                                          const GrowOptions& options) {
    if (options.criterion != Criterion::variance) return "criterion must be variance";
    if (options.rules.clus) return "clus must be off";
    if (targets.table != nullptr || targets.unknown != nullptr) return "all labels must be known";
    if (!FewLabelsScan::suits(targets, root.row)) {
        return "there must be from 1 to 64 labels, and at most four of each row";
    }
    return {};
}

const char* name_of(Engine engine) {
    switch (engine) {
        case Engine::automatic:
            return "automatic";
        case Engine::general:
            return "general";
        case Engine::few_labels:
            return "few_labels";
        case Engine::counting:
            return "counting";
        case Engine::rare_class:
            return "rare_class";
    }
    return "";
}

}  // namespace

std::optional<std::string> why_ineligible(Engine engine, const Dataset& dataset,
                                          const Targets& targets, const NodeRows& root,
                                          const GrowOptions& options) {
    if (engine == Engine::counting) return not_counting(dataset, targets, options);
    if (engine == Engine::rare_class) return not_rare_class(dataset, targets, root, options);
    if (engine == Engine::few_labels) return not_few_labels(targets, root, options);
    return {};
}

Engine choose_engine(const Dataset& dataset, const Targets& targets, const NodeRows& root,
                     const GrowOptions& options) {
    const auto why_not = [&](Engine engine) {
        return why_ineligible(engine, dataset, targets, root, options);
    };
    if (options.engine == Engine::automatic) {
        if (!why_not(Engine::rare_class)) return Engine::rare_class;
        if (!why_not(Engine::counting)) return Engine::counting;
        return why_not(Engine::few_labels) ? Engine::general : Engine::few_labels;
    }
    if (const auto reason = why_not(options.engine)) {
        throw std::invalid_argument(std::string("engine ") + name_of(options.engine) +
                                    " does not support these options or data: " + *reason);
    }
    return options.engine;
}

}  // namespace ramify
