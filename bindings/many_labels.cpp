// Binds answers for many labels: sparse scores, and the k best labels of each row.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "decoding/best_labels.hpp"
#include "init.hpp"
#include "matrices.hpp"
#include "rows.hpp"
#include "stopping.hpp"
#include "tree/sparse_votes.hpp"

namespace ramify::bindings {

namespace {

using Trees = std::vector<const Tree*>;
using Indptr = Vector<std::int64_t>;
using Indices = Vector<std::int32_t>;
using OutLabels = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Csr = std::tuple<Owned<std::int64_t>, Owned<std::int32_t>, Owned<double>>;

VotingTrees checked_trees(const Trees& trees, std::size_t n_columns, std::size_t n_labels,
                          bool by_node) {
    require(!trees.empty(), "trees must not be empty");
    for (const Tree* tree : trees) check_prediction(*tree, n_columns, n_labels);
    return {trees, mixing_of(by_node), n_labels};
}

/// Where the k best labels are written; k is the number of columns.
struct Best {
    std::span<const std::int32_t> candidates;
    std::size_t k;
    std::span<std::int32_t> label;
    std::span<double> score;
};

Best checked_best(const Indices& candidates, std::size_t n_rows, std::size_t n_labels,
                  const OutLabels& labels, const OutMatrix& scores) {
    const auto chosen = view(candidates);
    std::int32_t before = -1;
    for (const std::int32_t label : chosen) {
        require(label > before && static_cast<std::size_t>(label) < n_labels,
                "candidates must increase and lie in [0, n_labels)");
        before = label;
    }
    require(labels.shape(0) == n_rows && scores.shape(0) == n_rows &&
                labels.shape(1) == scores.shape(1),
            "labels and scores must have a row per row of X and the same number of columns");
    require(labels.shape(1) <= chosen.size(), "there must be at least k candidates");
    return {
        chosen, labels.shape(1), {labels.data(), labels.size()}, {scores.data(), scores.size()}};
}

Csr votes_of(const Trees& trees, const Rows& X, std::size_t n_labels, bool by_node, double least,
             unsigned n_threads) {
    const auto voters = checked_trees(trees, X.n_columns(), n_labels, by_node);
    StopSignal signal(interrupted_by(nullptr));
    auto found = stoppable([&] {
        return X.read([&](const auto& rows) {
            return sparse_votes(voters, rows, least, std::max(1u, n_threads), signal);
        });
    });
    return {to_numpy(std::move(found.indptr)), to_numpy(std::move(found.label)),
            to_numpy(std::move(found.score))};
}

void write_top(const Trees& trees, const Rows& X, std::size_t n_labels, bool by_node,
               const Indices& candidates, unsigned n_threads, const OutLabels& labels,
               const OutMatrix& scores) {
    const auto voters = checked_trees(trees, X.n_columns(), n_labels, by_node);
    const Best best = checked_best(candidates, X.n_rows(), n_labels, labels, scores);
    StopSignal signal(interrupted_by(nullptr));
    stoppable([&] {
        X.read([&](const auto& rows) {
            top_votes(voters, rows, best.candidates, best.k, std::max(1u, n_threads), signal,
                      best.label, best.score);
        });
    });
}

void write_best(const Rows& rows, const Indices& candidates, unsigned n_threads,
                const OutLabels& labels, const OutMatrix& scores) {
    const Best best = checked_best(candidates, rows.n_rows(), rows.n_columns(), labels, scores);
    StopSignal signal(interrupted_by(nullptr));
    rows.visit_doubles([&](const auto& given) {
        stoppable([&] {
            best_labels(given, best.candidates, best.k, std::max(1u, n_threads), signal,
                        best.label, best.score);
        });
    });
}

}  // namespace

void init_many_labels(nb::module_& m) {
    m.def("sparse_votes", &votes_of, nb::arg("trees"), nb::arg("X"), nb::arg("n_labels"),
          nb::arg("by_node"), nb::arg("least"), nb::arg("n_threads"),
          "The positive scores of vote, limited to 1, of at least `least`, as (indptr, indices, "
          "data).");
    m.def("top_votes", &write_top, nb::arg("trees"), nb::arg("X"), nb::arg("n_labels"),
          nb::arg("by_node"), nb::arg("candidates"), nb::arg("n_threads"), nb::arg("labels"),
          nb::arg("scores"),
          "Write the best candidates of each row and their scores, as many as there are columns.");
    m.def("best_labels", &write_best, nb::arg("rows"), nb::arg("candidates"), nb::arg("n_threads"),
          nb::arg("labels"), nb::arg("scores"),
          "Write the best candidates of each row of scores, and their scores.");
}

}  // namespace ramify::bindings
