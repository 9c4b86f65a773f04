#include "hierarchy/coherence.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "common/parallel.hpp"
#include "hierarchy/isotonic_graph.hpp"
#include "hierarchy/isotonic_tree.hpp"

namespace ramify {

namespace {

void raise_to_descendants(std::span<double> row, SparseRowsView parents) {
    for (std::size_t label = row.size(); label-- > 0;) {
        for (const std::int32_t parent : parents.row(label)) {
            row[parent] = std::max(row[parent], row[label]);
        }
    }
}

void lower_to_ancestors(std::span<double> row, SparseRowsView parents) {
    for (std::size_t label = 0; label < row.size(); ++label) {
        for (const std::int32_t parent : parents.row(label)) {
            row[label] = std::min(row[label], row[parent]);
        }
    }
}

bool is_forest(SparseRowsView parents) {
    for (std::size_t label = 0; label < parents.n_rows(); ++label) {
        if (parents.row(label).size() > 1) return false;
    }
    return true;
}

/// Repairs rows in one thread; the solvers own their scratch memory.
class Repairer {
  public:
    Repairer(SparseRowsView parents, std::span<const double> weight, Repair repair)
        : parents_(parents), repair_(repair) {
        if (repair != Repair::isotonic) return;
        if (is_forest(parents)) {
            tree_.emplace(parents, weight);
        } else {
            graph_.emplace(parents, weight);
        }
    }

    void operator()(std::span<double> row) {
        if (is_coherent(row, parents_)) return;
        if (repair_ == Repair::max) {
            raise_to_descendants(row, parents_);
        } else if (repair_ == Repair::min) {
            lower_to_ancestors(row, parents_);
        } else if (tree_) {
            tree_->solve(row);
        } else {
            graph_->solve(row);
            // Rounding may leave the mean of a block above that of an adjacent block.
            lower_to_ancestors(row, parents_);
        }
    }

  private:
    SparseRowsView parents_;
    Repair repair_;
    std::optional<IsotonicTree> tree_;
    std::optional<IsotonicGraph> graph_;
};

}  // namespace

bool is_coherent(std::span<const double> row, SparseRowsView parents) {
    for (std::size_t label = 0; label < row.size(); ++label) {
        for (const std::int32_t parent : parents.row(label)) {
            if (row[label] > row[parent]) return false;
        }
    }
    return true;
}

void make_coherent(std::span<double> scores, SparseRowsView parents,
                   std::span<const double> weight, Repair repair, unsigned n_threads,
                   std::function<bool()> stop) {
    const std::size_t n_labels = parents.n_rows();
    const std::size_t n_rows = n_labels == 0 ? 0 : scores.size() / n_labels;
    std::vector<std::optional<Repairer>> repairers(std::max(1u, n_threads));
    StopSignal signal(std::move(stop));
    parallel_for(n_threads, n_rows, signal, [&](unsigned thread, std::size_t r) {
        signal.check();
        auto& repairer = repairers[thread];
        if (!repairer) repairer.emplace(parents, weight, repair);
        (*repairer)(scores.subspan(r * n_labels, n_labels));
    });
}

}  // namespace ramify
