// What is to be predicted: sparse label rows and the weights of labels and rows.
#pragma once

#include <span>

#include "common/sparse_rows.hpp"
#include "data/label_sets.hpp"

namespace ramify {

struct NodeLabels;

struct Targets {
    SparseRowsView labels;                 // one row of labels per example, closed upwards
    std::span<const double> label_weight;  // per label, not negative
    LabelSets sets = {};                   // for distances and medoids; otherwise empty
    const NodeLabels* numbered = nullptr;  // those of all rows, see number_labels(); null: none

    std::size_t n_labels() const { return label_weight.size(); }
};

/// The examples of one node of a growing tree, in the order of the file. An example whose value
/// is missing at a test goes down every branch with a part of its weight, so rows of two nodes
/// may overlap; within a node a row occurs once.
struct NodeRows {
    std::vector<std::uint32_t> row;
    std::vector<double> weight;  // sample weight times part
    std::vector<double> part;    // how much of the row is here, in (0, 1]

    std::size_t size() const { return row.size(); }
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
