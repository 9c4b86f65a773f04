// The targets: labels and their weights, or a table of variables; and the rows of a node.
#pragma once

#include <span>

#include "common/sparse_rows.hpp"
#include "data/feature_targets.hpp"
#include "data/label_sets.hpp"
#include "data/target_table.hpp"
#include "data/unknown.hpp"

namespace ramify {

struct NodeLabels;

struct Targets {
    SparseRowsView labels;                 // of each row, closed upwards
    std::span<const double> label_weight;  // per label, not negative
    LabelSets sets = {};                   // for distances and medoids; otherwise empty
    const NodeLabels* numbered = nullptr;  // of all rows, see number_labels(); null: not computed
    const TargetTable* table = nullptr;    // variables in place of labels
    const UnknownLabels* unknown = nullptr;  // labels that rows may have; null: none
    // Features that count in the impurity, beside labels that may be unknown; null: none.
    const FeatureTargets* features = nullptr;

    std::size_t n_labels() const { return label_weight.size(); }
};

/// The rows of one node of a growing tree, in increasing order. A row whose value is missing at a
/// test goes down every branch with a part of its weight, so that two nodes may share rows; within
/// a node a row occurs once.
struct NodeRows {
    std::vector<std::uint32_t> row;
    std::vector<double> weight;  // sample weight times part
    std::vector<double> part;    // the part of the row that is here, in (0, 1]

    std::size_t size() const { return row.size(); }
    void clear() {
        row.clear();
        weight.clear();
        part.clear();
    }
    void resize(std::size_t n) {
        row.resize(n);
        weight.resize(n);
        part.resize(n);
    }
    void push_back(std::uint32_t r, double w, double p) {
        row.push_back(r);
        weight.push_back(w);
        part.push_back(p);
    }
};

}  // namespace ramify
