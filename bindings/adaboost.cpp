// Binds core/adaboost: a Booster that learns round by round, and the margins of many rounds.
#include "adaboost/adaboost.hpp"

#include <nanobind/stl/string.h>

#include "adaboost/margins.hpp"
#include "init.hpp"
#include "label_rows.hpp"
#include "matrices.hpp"
#include "rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

constexpr std::size_t max_depth = 8;  // nodes of a level are counted in bytes

SparseRowsView parents_of(const LabelRows& parents, std::size_t n_labels) {
    require(parents.n_labels() == n_labels, "there must be a row of parents per label");
    parents.sorted();
    return parents.parents();
}

void check_weights(std::span<const double> weights) {
    double sum = 0;
    for (const double weight : weights) {
        require(weight >= 0 && std::isfinite(weight), "weights must be finite and not negative");
        sum += weight;
    }
    require(sum > 0 && std::isfinite(sum), "the weights must have a positive, finite sum");
}

Booster make_booster(const Dataset& dataset, const LabelRows& given, const LabelRows& parents,
                     const Vector<double>& row_weight, const Vector<double>& label_weight,
                     BoostingOptions options) {
    options.n_threads = std::max(1u, options.n_threads);
    require(options.depth >= 1 && options.depth <= max_depth, "depth must lie between 1 and 8");
    require(dataset.n_rows > 0 && label_weight.size() > 0,
            "there must be at least one row and one label");
    require(row_weight.size() == dataset.n_rows, "row_weight must have one weight per row");
    check_weights(view(row_weight));
    check_weights(view(label_weight));
    require(given.n_labels() == label_weight.size(),
            "label_weight must have one weight per label");
    require(given.n_rows() == dataset.n_rows, "labels and X must have the same number of rows");
    const auto edges = parents_of(parents, label_weight.size());
    BoostingLabels labels{given.sorted().indptr, given.rows().indices, {}};
    for (std::size_t j = 0; j < label_weight.size(); ++j) {
        const auto row = edges.row(j);
        labels.parents.emplace_back(row.begin(), row.end());
    }
    const Unlocked unlocked;
    return Booster(dataset, labels, view(row_weight), view(label_weight), options);
}

void hide(Booster& booster, const Vector<std::uint32_t>& of_row, const LabelRows& patterns) {
    check_patterns(of_row, patterns, booster.n_rows(), booster.n_labels());
    const Unlocked unlocked;
    booster.hide(view(of_row), patterns.sorted());
}

/// The tests of a hypothesis as flat arrays, named as add_margins takes them.
nb::dict dict_of(const WeakHypothesis& found) {
    std::vector<std::int32_t> feature;
    std::vector<double> threshold;
    std::vector<std::uint8_t> default_right;
    std::vector<std::int64_t> category_indptr{0};
    std::vector<std::uint8_t> category_right;
    for (const auto& test : found.tests) {
        feature.push_back(test.feature);
        threshold.push_back(test.threshold);
        default_right.push_back(test.default_right ? 1 : 0);
        category_right.insert(category_right.end(), test.category_right.begin(),
                              test.category_right.end());
        category_indptr.push_back(static_cast<std::int64_t>(category_right.size()));
    }
    nb::dict arrays;
    arrays["feature"] = to_numpy(std::move(feature));
    arrays["threshold"] = to_numpy(std::move(threshold));
    arrays["default_right"] = to_numpy(std::move(default_right));
    arrays["category_indptr"] = to_numpy(std::move(category_indptr));
    arrays["category_right"] = to_numpy(std::move(category_right));
    arrays["sign"] = to_numpy(std::vector<std::int8_t>(found.signs));
    arrays["top_down"] = to_numpy(std::vector<std::uint8_t>(found.top_down));
    return arrays;
}

nb::typed<nb::dict, nb::str, nb::object> learn(Booster& booster) {
    const auto found = stoppable([&] { return booster.learn(interrupted_by(nullptr)); });
    return nb::typed<nb::dict, nb::str, nb::object>(dict_of(found));
}

Owned<double> weights_of(const Booster& booster) {
    std::vector<double> weights;
    weights.reserve(booster.n_rows() * booster.n_labels());
    for (std::size_t i = 0; i < booster.n_rows(); ++i) {
        for (std::size_t j = 0; j < booster.n_labels(); ++j) {
            weights.push_back(booster.weight(i, j));
        }
    }
    return to_numpy(std::move(weights));
}

// ---- margins -------------------------------------------------------------------------------

/// The arrays of all rounds, kept alive while the core reads them.
class HeldRounds {
  public:
    HeldRounds(const nb::typed<nb::dict, nb::str, nb::object>& given, std::size_t n_features,
               std::size_t n_labels)
        : feature_(nb::cast<Vector<std::int32_t>>(given["feature"])),
          threshold_(nb::cast<Vector<double>>(given["threshold"])),
          default_right_(nb::cast<Vector<std::uint8_t>>(given["default_right"])),
          category_indptr_(nb::cast<Vector<std::int64_t>>(given["category_indptr"])),
          category_right_(nb::cast<Vector<std::uint8_t>>(given["category_right"])),
          sign_(nb::cast<Vector<std::int8_t>>(given["sign"])),
          alpha_(nb::cast<Vector<double>>(given["alpha"])),
          top_down_(nb::cast<Vector<std::uint8_t>>(given["top_down"])),
          rounds{alpha_.size(),
                 nb::cast<std::size_t>(given["depth"]),
                 n_labels,
                 n_labels,
                 view(feature_),
                 view(threshold_),
                 view(default_right_),
                 view(category_indptr_),
                 view(category_right_),
                 view(sign_),
                 view(alpha_),
                 view(top_down_)} {
        if (nb::cast<bool>(given["shared"])) rounds.n_tested = 1;
        check(n_features);
    }

  private:
    Vector<std::int32_t> feature_;
    Vector<double> threshold_;
    Vector<std::uint8_t> default_right_;
    Vector<std::int64_t> category_indptr_;
    Vector<std::uint8_t> category_right_;
    Vector<std::int8_t> sign_;
    Vector<double> alpha_;
    Vector<std::uint8_t> top_down_;

    /// Rounds may come from a file: nothing in them may lead prediction astray.
    void check(std::size_t n_features) const {
        require(rounds.depth >= 1 && rounds.depth <= max_depth, "damaged rounds: wrong depth");
        const auto n_tests = rounds.n_rounds * rounds.n_nodes() * rounds.n_tested;
        require(rounds.feature.size() == n_tests && rounds.threshold.size() == n_tests &&
                    rounds.default_right.size() == n_tests &&
                    rounds.top_down.size() == rounds.n_rounds * rounds.n_labels &&
                    rounds.category_indptr.size() == n_tests + 1 &&
                    rounds.sign.size() == rounds.n_rounds * rounds.n_leaves() * rounds.n_labels,
                "damaged rounds: arrays differ in length");
        require(rounds.category_indptr.front() == 0 &&
                    rounds.category_indptr.back() ==
                        static_cast<std::int64_t>(rounds.category_right.size()) &&
                    std::ranges::is_sorted(rounds.category_indptr),
                "damaged rounds: ranges do not fit");
        require(std::ranges::all_of(rounds.feature,
                                    [&](std::int32_t f) {
                                        return f < 0 || static_cast<std::size_t>(f) < n_features;
                                    }),
                "X has fewer columns than the rounds test");
    }

  public:
    BoostingRounds rounds;
};

void add(const nb::typed<nb::dict, nb::str, nb::object>& given, const Rows& X, std::size_t first,
         std::size_t last, const LabelRows& parents, unsigned n_threads, const OutMatrix& out) {
    const HeldRounds held(given, X.n_columns(), out.shape(1));
    require(first <= last && last <= held.rounds.n_rounds,
            "first and last must be rounds in increasing order");
    require(out.shape(0) == X.n_rows(), "out and X must have the same number of rows");
    const auto edges = parents_of(parents, out.shape(1));
    StopSignal signal(interrupted_by(nullptr));
    stoppable([&] {
        X.read([&](const auto& rows) {
            add_margins(held.rounds, first, last, {edges.indptr, edges.indices}, rows,
                        std::max(1u, n_threads), signal, {out.data(), out.size()});
        });
    });
}

}  // namespace

void init_adaboost(nb::module_& m) {
    nb::enum_<TopDown>(m, "TopDown", "Whether votes are negative below negative votes.")
        .value("never", TopDown::never)
        .value("always", TopDown::always)
        .value("best", TopDown::best);
    nb::class_<BoostingOptions>(m, "BoostingOptions",
                                "Options of Booster; core/adaboost/adaboost.hpp documents them.")
        .def(nb::init<>())
        .def_rw("depth", &BoostingOptions::depth)
        .def_rw("max_bins", &BoostingOptions::max_bins)
        .def_rw("shared", &BoostingOptions::shared)
        .def_rw("top_down", &BoostingOptions::top_down)
        .def_rw("any_parent", &BoostingOptions::any_parent)
        .def_rw("inherit_mistakes", &BoostingOptions::inherit_mistakes)
        .def_rw("relax", &BoostingOptions::relax)
        .def_rw("n_threads", &BoostingOptions::n_threads);
    nb::class_<Booster>(m, "Booster", "Weights of rows and labels, moved round by round.")
        .def(nb::new_(&make_booster), nb::arg("dataset"), nb::arg("labels"), nb::arg("parents"),
             nb::arg("row_weight"), nb::arg("label_weight"), nb::arg("options"))
        .def("hide", &hide, nb::arg("of_row"), nb::arg("patterns"),
             "Give labels that are not known no weight. Before learning.")
        .def("learn", &learn, "Find a weak hypothesis for the present weights; its arrays.")
        .def("edge", &Booster::edge, "The edge of the last hypothesis.")
        .def("corrected", &Booster::corrected, "Whether it was corrected by the hierarchy.")
        .def("reweigh", &Booster::reweigh, "Move the weights by the last hypothesis.")
        .def("weights", &weights_of, "The weights of all rows and labels, by rows.");
    m.def("add_margins", &add, nb::arg("rounds"), nb::arg("X"), nb::arg("first"), nb::arg("last"),
          nb::arg("parents"), nb::arg("n_threads"), nb::arg("out"),
          "Add the weighted votes of rounds first to last to out.");
}

}  // namespace ramify::bindings
