// Binds core/curves: areas under curves.
#include "curves/curves.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "init.hpp"
#include "label_rows.hpp"
#include "rows.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

using Indices = Vector<std::int32_t>;
using Doubles = Owned<double>;
using Steps = std::tuple<Doubles, Doubles, Doubles, Doubles, double, double>;
using Areas = std::tuple<Doubles, Doubles, Doubles>;
using Weights = std::optional<Vector<double>>;

std::span<const std::int32_t> checked_labels(const Indices& labels, std::size_t n_labels) {
    const auto chosen = view(labels);
    std::int32_t before = -1;
    for (const std::int32_t label : chosen) {
        if (label <= before) throw std::invalid_argument("labels must increase");
        before = label;
    }
    if (before >= static_cast<std::int64_t>(n_labels)) {
        throw std::invalid_argument("labels must lie in [0, n_labels)");
    }
    return chosen;
}

/// Sorting has no answer for NaN, and scores at infinity are a mistake upstream.
void check_finite(const RankingView& ranking, std::span<const std::int32_t> labels,
                  StopSignal& signal) {
    if (!all_finite(ranking, labels, signal)) throw std::invalid_argument("scores must be finite");
}

void check_finite(const SparseRankingView& ranking, std::span<const std::int32_t>, StopSignal&) {
    const auto is_finite = [](double score) { return std::isfinite(score); };
    if (!std::all_of(ranking.scores.data.begin(), ranking.scores.data.end(), is_finite)) {
        throw std::invalid_argument("scores must be finite");
    }
}

template <typename Scores>
RankingOf<Scores> checked_ranking(const Scores& scores, std::size_t n_rows, const LabelRows& truth,
                                  const Weights& row_weight) {
    require(truth.n_rows() == n_rows && truth.n_labels() == scores.n_columns,
            "truth must have the shape of scores");
    RankingOf<Scores> ranking{scores, truth.sorted(), {}};
    if (row_weight) {
        ranking.row_weight = view(*row_weight);
        if (ranking.row_weight.size() != n_rows) {
            throw std::invalid_argument("row_weight must have one entry per row of scores");
        }
    }
    return ranking;
}

Interpolation interpolation_of(const std::string& name) {
    if (name == "davis-goadrich") return Interpolation::davis_goadrich;
    if (name == "continuous") return Interpolation::continuous;
    if (name == "linear") return Interpolation::linear;
    if (name == "step") return Interpolation::step;
    throw std::invalid_argument(
        "interpolation must be 'davis-goadrich', 'continuous', 'linear' or 'step', got '" + name +
        "'");
}

template <typename Ranking>
Steps steps_of(const Ranking& ranking, const Indices& labels) {
    const auto chosen = checked_labels(labels, ranking.scores.n_columns);
    StopSignal signal(interrupted_by(nullptr));
    CurveSteps steps = stoppable([&] {
        check_finite(ranking, chosen, signal);
        return pooled_steps(ranking, chosen, signal);
    });
    return {to_numpy(std::move(steps.score)),
            to_numpy(std::move(steps.positives)),
            to_numpy(std::move(steps.negatives_above)),
            to_numpy(std::move(steps.negatives)),
            steps.n_positive,
            steps.n_negative};
}

Steps curve_steps(const Rows& scores, const LabelRows& truth, const Indices& labels,
                  const Weights& row_weight) {
    return scores.visit_doubles([&](const auto& given) {
        return steps_of(checked_ranking(given, scores.n_rows(), truth, row_weight), labels);
    });
}

/// `negatives_above` and the totals as curve_steps gives them; any caller's steps will do.
std::pair<double, double> areas_of_steps(const Vector<double>& positives,
                                         const Vector<double>& negatives_above,
                                         const Vector<double>& negatives, double n_positive,
                                         double n_negative, const std::string& interpolation) {
    if (negatives_above.size() != positives.size() || negatives.size() != positives.size()) {
        throw std::invalid_argument("the arrays of steps must have the same length");
    }
    const StepsView steps{view(positives), view(negatives_above), view(negatives), n_positive,
                          n_negative};
    return {precision_recall_area(steps, interpolation_of(interpolation)), roc_area(steps)};
}

template <typename Ranking>
Areas areas_of(const Ranking& ranking, const Indices& labels, const std::string& interpolation) {
    const auto chosen = checked_labels(labels, ranking.scores.n_columns);
    const auto how = interpolation_of(interpolation);
    StopSignal signal(interrupted_by(nullptr));
    LabelAreas areas = stoppable([&] {
        check_finite(ranking, chosen, signal);
        return label_areas(ranking, chosen, how, signal);
    });
    return {to_numpy(std::move(areas.precision_recall)), to_numpy(std::move(areas.roc)),
            to_numpy(std::move(areas.n_positive))};
}

Areas areas_of_labels(const Rows& scores, const LabelRows& truth, const Indices& labels,
                      const Weights& row_weight, const std::string& interpolation) {
    return scores.visit_doubles([&](const auto& given) {
        return areas_of(checked_ranking(given, scores.n_rows(), truth, row_weight), labels,
                        interpolation);
    });
}

}  // namespace

void init_curves(nb::module_& m) {
    m.def("curve_steps", &curve_steps, nb::arg("scores"), nb::arg("truth"), nb::arg("labels"),
          nb::arg("row_weight") = nb::none(),
          "Steps of the pooled curve as (score, positives, negatives_above, negatives, "
          "n_positive, n_negative).");
    m.def("step_areas", &areas_of_steps, nb::arg("positives"), nb::arg("negatives_above"),
          nb::arg("negatives"), nb::arg("n_positive"), nb::arg("n_negative"),
          nb::arg("interpolation") = "davis-goadrich",
          "Areas under the curves of the given steps as (precision_recall, roc).");
    m.def("label_areas", &areas_of_labels, nb::arg("scores"), nb::arg("truth"), nb::arg("labels"),
          nb::arg("row_weight") = nb::none(), nb::arg("interpolation") = "davis-goadrich",
          "Areas under every label's curves as (precision_recall, roc, n_positive).");
}

}  // namespace ramify::bindings
