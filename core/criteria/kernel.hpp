// Inner products of the label sets of the entries of a small node. Below a certain size they are
// cheaper than the labels themselves: a scan adds one row per entry, and the products of a child
// are a part of its parent's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/scratch.hpp"
#include "data/targets.hpp"

namespace ramify {

struct NodeLabels;

/// cell[i, j] = sum over labels c of w_c (y_ic - o_c) (y_jc - o_c), with any origin o: variances
/// do not depend on it. The origin of a child is one of its entries, so that a pure node's cells
/// are exactly zero and no sum is much larger than the impurity it stands for.
struct Kernel {
    std::size_t stride = 0;     // cells of a row; 0: there is no kernel
    Scratch<double> cells;      // rows of `stride` cells, padded with zeros
    std::vector<double> cross;  // per entry j: sum_i v_i [i, j]
    double mass = 0;            // sum_i v_i [i, i]
    double square = 0;          // sum_ij v_i v_j [i, j]

    bool empty() const { return stride == 0; }
    void clear() { stride = 0; }
    const double* row(std::size_t entry) const { return cells.data() + entry * stride; }

    /// Whether a kernel makes `n_scans` scans of these labels faster.
    static bool pays(const NodeLabels& labels, std::size_t n_scans);
    /// The origin is the empty set of the node's (renumbered) labels.
    void compute(const NodeLabels& labels, const NodeRows& rows);
    /// Takes the kernel of a child from its parent; above[i]: entry i in the parent.
    void restrict_to(const Kernel& parent, std::span<const std::uint32_t> above,
                     const NodeRows& rows);

  private:
    void resize(std::size_t n_entries);
    void sum_up(const NodeRows& rows);
};

}  // namespace ramify
