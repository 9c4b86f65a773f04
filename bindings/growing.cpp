// Binds core/growing: the options, the labels and the call that grows a tree.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "criteria/node_labels.hpp"
#include "data/dataset.hpp"
#include "growing/grow.hpp"
#include "growing/options.hpp"
#include "init.hpp"
#include "label_rows.hpp"
#include "matrices.hpp"
#include "stopping.hpp"

namespace ramify::bindings {

namespace {

/// Read the value of an option; choices have names.
template <typename T>
T read_option(const std::string& name, nb::handle value) {
    if constexpr (std::is_enum_v<T>) {
        const auto given = read_option<std::string>(name, value);
        std::string known;
        for (const auto& [text, choice] : Names<T>::values) {
            if (given == text) return choice;
            known += std::string(known.empty() ? "" : ", ") + text;
        }
        throw std::invalid_argument(name + " must be one of " + known + ", got " + given);
    } else {
        T found{};
        if (!nb::try_cast(value, found)) {
            throw nb::type_error((name + " is of the wrong type").c_str());
        }
        return found;
    }
}

using SetOption = std::function<void(GrowOptions&, const std::string&, nb::handle)>;

template <typename Part, typename T>
SetOption option(T Part::* member) {
    return [member](GrowOptions& options, const std::string& name, nb::handle value) {
        const T found = read_option<T>(name, value);
        if constexpr (std::is_same_v<Part, SplitRules>) {
            options.rules.*member = found;
        } else if constexpr (std::is_same_v<Part, Pessimism>) {
            options.pessimism.*member = found;
        } else {
            options.*member = found;
        }
    };
}

/// The options by name. Rules and pessimism are not separate in Python.
const std::map<std::string, SetOption>& options_by_name() {
    static const std::map<std::string, SetOption> found = {
        {"criterion", option(&GrowOptions::criterion)},
        {"engine", option(&GrowOptions::engine)},
        {"max_depth", option(&GrowOptions::max_depth)},
        {"min_samples_split", option(&GrowOptions::min_samples_split)},
        {"min_gain", option(&GrowOptions::min_gain)},
        {"max_features", option(&GrowOptions::max_features)},
        {"redraw", option(&GrowOptions::redraw)},
        {"hidden_feature", option(&GrowOptions::hidden_feature)},
        {"merging", option(&GrowOptions::merging)},
        {"prototype", option(&GrowOptions::prototype)},
        {"inner_values", option(&GrowOptions::inner_values)},
        {"sums", option(&GrowOptions::sums)},
        {"seed", option(&GrowOptions::seed)},
        {"java_random", option(&GrowOptions::java_random)},
        {"n_threads", option(&GrowOptions::n_threads)},
        {"min_weight", option(&SplitRules::min_weight)},
        {"min_samples_leaf", option(&SplitRules::min_samples_leaf)},
        {"midpoint", option(&SplitRules::midpoint)},
        {"random_thresholds", option(&SplitRules::random_thresholds)},
        {"nominal_tests", option(&SplitRules::nominal_tests)},
        {"missing", option(&SplitRules::missing)},
        {"c45", option(&SplitRules::c45)},
        {"gain_ratio", option(&SplitRules::gain_ratio)},
        {"mean_score", option(&SplitRules::mean_score)},
        {"score_factor", option(&SplitRules::score_factor)},
        {"f_critical", option(&SplitRules::f_critical)},
        {"clus", option(&SplitRules::clus)},
        {"clus_floor", option(&SplitRules::clus_floor)},
        {"clus_step", option(&SplitRules::clus_step)},
        {"confidence", option(&Pessimism::confidence)},
        {"z", option(&Pessimism::z)},
        {"exclusive", option(&Pessimism::exclusive)},
    };
    return found;
}

void make_options(GrowOptions* place, const nb::kwargs& given) {
    GrowOptions options;
    for (const auto& [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        const auto found = options_by_name().find(name);
        if (found == options_by_name().end()) {
            throw nb::type_error(("GrowOptions has no option " + name).c_str());
        }
        found->second(options, name, value);
    }
    new (place) GrowOptions(std::move(options));
}

NodeRows root_rows(std::span<const std::int64_t> rows, std::span<const double> weights,
                   std::size_t n_rows) {
    require(rows.size() == weights.size(), "rows and weights must have the same length");
    require(!rows.empty(), "rows must not be empty");
    NodeRows root;
    double total = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        require(rows[k] >= 0 && static_cast<std::size_t>(rows[k]) < n_rows &&
                    (k == 0 || rows[k - 1] < rows[k]),
                "rows must increase and lie within X");
        require(weights[k] >= 0 && std::isfinite(weights[k]),
                "weights must be finite and not negative");
        total += weights[k];
        root.push_back(static_cast<std::uint32_t>(rows[k]), weights[k], 1.0);
    }
    require(total > 0 && std::isfinite(total), "the weights must have a positive, finite sum");
    return root;
}

/// The label set of each row and their squared distances, as far as the options need them.
LabelSets label_sets_of(const std::optional<Vector<std::uint32_t>>& given,
                        const std::optional<Matrix<double>>& distances, const GrowOptions& options,
                        std::size_t n_rows) {
    const bool by_distance = options.criterion == Criterion::distance;
    if (!by_distance && options.prototype == Prototype::mean) return {};
    require(given && given->size() == n_rows, "set_of_row must have one number per row");
    const auto numbers = view(*given);
    LabelSets sets{numbers, {}, 0};
    for (const auto number : numbers) {
        sets.n_sets = std::max<std::size_t>(sets.n_sets, std::size_t{number} + 1);
    }
    require(sets.n_sets <= n_rows, "set_of_row must be below the number of rows");
    require(!by_distance || distances, "squared must be given for criterion distance");
    if (!distances) return sets;
    const Matrix<double>& squared = *distances;
    require(squared.shape(0) >= sets.n_sets && squared.shape(0) == squared.shape(1) &&
                squared.stride(1) == 1 &&
                squared.stride(0) == static_cast<std::int64_t>(squared.shape(1)),
            "squared must be a square C-contiguous matrix with a row per label set");
    sets.n_sets = squared.shape(0);
    sets.squared = {squared.data(), squared.size()};
    return sets;
}

/// Labels that rows may have, checked; see UnknownLabels. The numpy arrays are kept alive.
struct Unknown {
    Vector<std::uint32_t> of_row;
    LabelRows patterns;
    LabelRows parents;
    UnknownLabels labels;

    Unknown(Vector<std::uint32_t> pattern_of_row, LabelRows given, LabelRows graph,
            std::size_t n_rows, std::size_t n_labels)
        : of_row(std::move(pattern_of_row)),
          patterns(std::move(given)),
          parents(std::move(graph)),
          labels{view(of_row), patterns.sorted(), parents.parents()} {
        check_patterns(of_row, patterns, n_rows, n_labels);
        require(parents.n_labels() == n_labels, "parents must have the labels of rows");
    }
};

/// The features as targets, checked; see FeatureTargets. The numpy arrays are kept alive.
struct Features {
    LabelRows cells;
    Vector<double> value;
    LabelRows missing;
    FeatureTargets targets;

    Features(LabelRows given, Vector<double> value_of_cell, LabelRows gaps, std::size_t n_rows)
        : cells(std::move(given)), value(std::move(value_of_cell)), missing(std::move(gaps)) {
        targets = {cells.sorted(), view(value), missing.sorted(), cells.n_labels(),
                   cells.n_labels()};
        require(cells.n_rows() == n_rows && missing.n_rows() == n_rows &&
                    missing.n_labels() == cells.n_labels() &&
                    value.size() == targets.cells.indices.size(),
                "features and labels must have the same number of rows");
        require(std::ranges::all_of(view(value), [](double x) { return std::isfinite(x); }),
                "feature_value must be finite");
        for (const auto column : targets.missing.indices) {
            targets.n_complete = std::min(targets.n_complete, static_cast<std::size_t>(column));
        }
    }
};

/// Labels of all rows, checked, and numbered if many trees will learn from them.
struct Labels {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> weight;  // per label
    std::optional<Vector<std::uint32_t>> set_of_row;
    std::optional<Matrix<double>> squared;
    std::optional<NodeLabels> numbered;
    std::unique_ptr<Unknown> unknown;
    std::unique_ptr<Features> features;

    Targets targets() const {
        return {{indptr, indices},
                weight,
                {},
                numbered ? &*numbered : nullptr,
                nullptr,
                unknown ? &unknown->labels : nullptr,
                features ? &features->targets : nullptr};
    }
};

template <typename T>
std::vector<T> copy_of(const Vector<T>& given) {
    const auto values = view(given);
    return {values.begin(), values.end()};
}

void make_labels(Labels* place, const LabelRows& given, const Vector<double>& weight,
                 std::optional<Vector<std::uint32_t>> set_of_row,
                 std::optional<Matrix<double>> squared, bool many,
                 std::optional<Vector<std::uint32_t>> pattern_of_row,
                 std::optional<LabelRows> patterns, std::optional<LabelRows> parents,
                 std::optional<LabelRows> features, std::optional<Vector<double>> feature_value,
                 std::optional<LabelRows> missing_features) {
    require(given.n_labels() == weight.size(), "weight must have one number per label");
    const auto rows = given.sorted();
    Labels labels{{rows.indptr.begin(), rows.indptr.end()},
                  {rows.indices.begin(), rows.indices.end()},
                  copy_of(weight),
                  std::move(set_of_row),
                  std::move(squared),
                  {},
                  nullptr,
                  nullptr};
    if (pattern_of_row) {
        require(patterns && parents, "patterns and parents must be given with pattern_of_row");
        labels.unknown = std::make_unique<Unknown>(std::move(*pattern_of_row),
                                                   std::move(*patterns), std::move(*parents),
                                                   labels.indptr.size() - 1, given.n_labels());
    }
    if (features) {
        require(labels.unknown && feature_value && missing_features,
                "patterns, feature_value and missing_features must be given with features");
        labels.features =
            std::make_unique<Features>(std::move(*features), std::move(*feature_value),
                                       std::move(*missing_features), labels.indptr.size() - 1);
    }
    if (many && !labels.unknown) {
        const Unlocked unlocked;
        labels.numbered = number_labels(labels.targets(), labels.indptr.size() - 1);
    }
    new (place) Labels(std::move(labels));  // last: it would not be destroyed after an error
}

Tree grow_tree(const Dataset& dataset, const Labels& labels, const Vector<std::int64_t>& rows,
               const Vector<double>& weights, GrowOptions options, const StopFlag* stop) {
    options.interrupted = interrupted_by(stop);
    require(labels.indptr.size() == dataset.n_rows + 1,
            "labels and X must have the same number of rows");
    require(!options.sums || options.pessimism.confidence <= 0,
            "pessimistic pruning requires leaves with shares");
    Targets targets = labels.targets();
    require(targets.unknown == nullptr || (options.criterion == Criterion::variance &&
                                           options.prototype == Prototype::mean && !options.sums &&
                                           (!options.rules.clus || targets.features != nullptr) &&
                                           options.pessimism.confidence <= 0),
            "labels that are not known do not support these options");
    FeatureTargets features;
    if (targets.features != nullptr) {
        features = *targets.features;
        features.least_labelled =
            options.rules.clus
                ? 2 * options.rules.min_weight
                : std::max(options.min_samples_split, 2 * options.rules.min_samples_leaf);
        targets.features = &features;
    }
    targets.sets = label_sets_of(labels.set_of_row, labels.squared, options, dataset.n_rows);
    NodeRows root = root_rows(view(rows), view(weights), dataset.n_rows);
    return stoppable([&] { return grow(dataset, targets, std::move(root), options); });
}

/// A table of targets, checked; see TargetTable.
struct OwnedTable {
    std::vector<double> values;
    std::vector<double> origin;
    std::vector<double> weight;
    std::vector<std::int32_t> first_column;
    bool any_unknown = false;
    bool inherit = true;
    bool counts = false;
    double noise = -1;

    std::size_t n_rows() const { return values.size() / weight.size(); }
    TargetTable table() const {
        return {values, origin, weight, first_column, any_unknown, inherit, counts, noise};
    }
};

OwnedTable make_table(const Matrix<double>& values, const Vector<double>& weight) {
    const std::size_t n = values.shape(1);
    require(n > 0 && weight.size() == n, "weight must have one number per column of values");
    OwnedTable table;
    table.weight = copy_of(weight);
    for (const double w : table.weight) {
        require(w >= 0 && std::isfinite(w), "weight must be finite and not negative");
    }
    const auto cells = matrix_view(values);
    table.values.reserve(values.size());
    for (std::size_t r = 0; r < values.shape(0); ++r) {
        for (std::size_t i = 0; i < n; ++i) table.values.push_back(cells.at(r, i));
    }
    table.any_unknown = std::ranges::any_of(table.values, [](double x) { return std::isnan(x); });
    return table;
}

OwnedTable numeric_table(const Matrix<double>& values, const Vector<double>& weight,
                         const Vector<double>& origin, bool clus) {
    OwnedTable table = make_table(values, weight);
    table.inherit = !clus;
    if (!clus) table.noise = 1e-12;
    const std::size_t n = table.weight.size();
    require(origin.size() == n, "origin must have one number per column of values");
    table.origin = copy_of(origin);
    for (std::size_t k = 0; k < table.values.size(); ++k) {
        table.values[k] -= table.origin[k % n];
        require(!std::isinf(table.values[k]), "values must be finite, or NaN if not known");
    }
    for (std::size_t i = 0; i <= n; ++i) {
        table.first_column.push_back(static_cast<std::int32_t>(i));
    }
    return table;
}

OwnedTable nominal_table(const Matrix<double>& values, const Vector<double>& weight,
                         const Vector<std::int32_t>& n_classes, bool counts) {
    OwnedTable table = make_table(values, weight);
    const std::size_t n = table.weight.size();
    table.counts = counts;
    require(n_classes.size() == n, "n_classes must have one number per column of values");
    table.first_column.push_back(0);
    std::int64_t total = 0;
    for (const auto count : view(n_classes)) {
        total += count;
        require(count > 0 && total <= std::numeric_limits<std::int32_t>::max(),
                "n_classes must be positive, and their sum below 2**31");
        table.first_column.push_back(static_cast<std::int32_t>(total));
    }
    for (std::size_t k = 0; k < table.values.size(); ++k) {
        const double x = table.values[k];
        const auto most = static_cast<double>(view(n_classes)[k % n]);
        require(std::isnan(x) || (x >= 0 && x < most && x == std::floor(x)),
                "values must be classes below n_classes, or NaN if not known");
    }
    return table;
}

Tree grow_on_table(const Dataset& dataset, const OwnedTable& owned,
                   const Vector<std::int64_t>& rows, const Vector<double>& weights,
                   GrowOptions options, const StopFlag* stop) {
    options.interrupted = interrupted_by(stop);
    require(owned.n_rows() == dataset.n_rows, "targets and X must have the same number of rows");
    const bool pruned = options.pessimism.confidence > 0;
    require(owned.origin.empty() || (options.criterion == Criterion::variance && !pruned),
            "numeric targets require criterion variance and no pessimistic pruning");
    require(options.criterion == Criterion::variance || options.criterion == Criterion::entropy,
            "targets require criterion variance or entropy");
    require(options.prototype == Prototype::mean && options.engine != Engine::counting &&
                options.engine != Engine::rare_class &&
                options.merging != LeafMerging::same_labels &&
                (options.merging != LeafMerging::same_classes || owned.origin.empty()),
            "targets do not support these options");
    const TargetTable table = owned.table();
    Targets targets;
    targets.table = &table;
    NodeRows root = root_rows(view(rows), view(weights), dataset.n_rows);
    return stoppable([&] { return grow(dataset, targets, std::move(root), options); });
}

void bind_tables(nb::module_& m) {
    nb::class_<OwnedTable>(m, "TargetTable",
                           "Several numeric or nominal targets of the rows of a Dataset.")
        .def_static("numeric", &numeric_table, nb::arg("values"), nb::arg("weight"),
                    nb::arg("origin"), nb::arg("clus") = false,
                    "Numbers, NaN if not known. Sums are relative to `origin`. Leaves without a "
                    "known value have that of the node above or, with clus, none.")
        .def_static("nominal", &nominal_table, nb::arg("values"), nb::arg("weight"),
                    nb::arg("n_classes"), nb::arg("counts") = false,
                    "Classes from 0 on, NaN if not known; counts: leaves store weights of classes "
                    "in place of shares.")
        .def_prop_ro("n_columns",
                     [](const OwnedTable& table) { return table.first_column.back(); });
}

}  // namespace

void init_growing(nb::module_& m) {
    nb::class_<GrowOptions>(m, "GrowOptions",
                            "Options of grow; core/growing/options.hpp documents them.")
        .def("__init__", &make_options, nb::sig("def __init__(self, **options: object) -> None"),
             "Options by name; the others have their defaults.");
    bind_tables(m);
    nb::class_<Labels>(m, "Labels", "Labels of the rows of a Dataset, prepared for growing.")
        .def("__init__", &make_labels, nb::arg("rows"), nb::arg("weight"),
             nb::arg("set_of_row") = nb::none(), nb::arg("squared") = nb::none(),
             nb::arg("many") = false, nb::arg("pattern_of_row") = nb::none(),
             nb::arg("patterns") = nb::none(), nb::arg("parents") = nb::none(),
             nb::arg("features") = nb::none(), nb::arg("feature_value") = nb::none(),
             nb::arg("missing_features") = nb::none(),
             "The labels of the rows, label weights, the label set of each row and the squared "
             "distances between the sets; many: for more than one tree. Of labels that are not "
             "known: the pattern of each row, the labels of each pattern and their parents. Of "
             "features that are targets, too: the columns of each row, their values, and the "
             "columns whose value is missing.");
    m.def("grow", &grow_tree, nb::arg("dataset"), nb::arg("targets"), nb::arg("rows"),
          nb::arg("weights"), nb::arg("options"), nb::arg("stop").none() = nb::none(),
          "Grow a tree that predicts labels.");
    m.def("grow", &grow_on_table, nb::arg("dataset"), nb::arg("targets"), nb::arg("rows"),
          nb::arg("weights"), nb::arg("options"), nb::arg("stop").none() = nb::none(),
          "Grow a tree that predicts several targets.");
}

}  // namespace ramify::bindings
