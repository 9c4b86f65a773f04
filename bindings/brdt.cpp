// Binds core/brdt: the extension of leaves.
#include "brdt/leaf_extension.hpp"
#include "init.hpp"
#include "matrices.hpp"

namespace ramify::bindings {

namespace {

template <typename T>
std::vector<T> copy_of(const nb::handle& given) {
    const auto array = nb::cast<Vector<T>>(given);
    return {array.data(), array.data() + array.size()};
}

void check_ranges(std::span<const std::int64_t> indptr, std::size_t n, std::size_t n_items) {
    require(indptr.size() == n + 1 && indptr.front() == 0 &&
                indptr.back() == static_cast<std::int64_t>(n_items) &&
                std::ranges::is_sorted(indptr),
            "indptr arrays must start at 0, not decrease and end at the length of their array");
}

template <typename T>
void check_below(std::span<const T> numbers, std::size_t bound) {
    require(std::ranges::all_of(
                numbers, [&](T x) { return x >= 0 && static_cast<std::size_t>(x) < bound; }),
            "indices of rows, labels and rules must lie in range");
}

void check_rules(const LabelRules& rules) {
    const std::size_t n_cells = rules.n_labels() * rules.n_rows;
    require(rules.has.size() == n_cells && rules.rule_of_row.size() == n_cells &&
                rules.preferred.size() == rules.n_rules() &&
                rules.premise_value.size() == rules.premise_label.size(),
            "arrays of rules must have matching lengths");
    check_ranges(rules.rule_indptr, rules.n_labels(), rules.n_rules());
    check_ranges(rules.premise_indptr, rules.n_rules(), rules.premise_label.size());
    check_below<std::int32_t>(rules.preferred, rules.n_rules());
    check_below<std::int32_t>(rules.premise_label, rules.n_labels());
    require(std::ranges::all_of(
                rules.rule_of_row,
                [&](std::int32_t r) { return r < static_cast<std::int64_t>(rules.n_rules()); }),
            "rule_of_row must be below the number of rules");
}

LeafExtension make_extension(const nb::typed<nb::dict, nb::str, nb::object>& given) {
    LabelRules rules;
    rules.weight = copy_of<double>(given["weight"]);
    rules.n_rows = rules.weight.size();
    rules.has = copy_of<std::uint8_t>(given["has"]);
    rules.rule_of_row = copy_of<std::int32_t>(given["rule_of_row"]);
    rules.accuracy = copy_of<double>(given["accuracy"]);
    rules.rule_indptr = copy_of<std::int64_t>(given["rule_indptr"]);
    rules.preferred = copy_of<std::int32_t>(given["preferred"]);
    rules.conclusion = copy_of<std::uint8_t>(given["conclusion"]);
    rules.premise_indptr = copy_of<std::int64_t>(given["premise_indptr"]);
    rules.premise_label = copy_of<std::int32_t>(given["premise_label"]);
    rules.premise_value = copy_of<std::uint8_t>(given["premise_value"]);
    rules.next_tree = nb::cast<bool>(given["next_tree"]);
    check_rules(rules);
    return LeafExtension(std::move(rules));
}

Owned<std::uint8_t> extend(LeafExtension& extension, const Vector<std::int64_t>& row_indptr,
                           const Vector<std::int64_t>& rows, std::size_t label,
                           const Vector<std::uint8_t>& values,
                           const Vector<std::int32_t>& component) {
    const std::size_t n_leaves = values.size();
    check_ranges(view(row_indptr), n_leaves, rows.size());
    check_below(view(rows), extension.rules().n_rows);
    check_below(view(component), extension.rules().n_labels());
    require(label < extension.rules().n_labels(), "label must be below the number of labels");
    std::vector<std::uint8_t> found(n_leaves * component.size());
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
        const auto begin = static_cast<std::size_t>(row_indptr.data()[leaf]);
        const auto end = static_cast<std::size_t>(row_indptr.data()[leaf + 1]);
        extension.extend({view(rows).subspan(begin, end - begin), label, values.data()[leaf]},
                         view(component), found.data() + leaf * component.size());
    }
    return to_numpy(std::move(found));
}

}  // namespace

void init_brdt(nb::module_& m) {
    nb::class_<LeafExtension>(m, "LeafExtension",
                              "Extends leaves that predict one label to related labels.")
        .def(
            "__init__",
            [](LeafExtension* self, const nb::typed<nb::dict, nb::str, nb::object>& given) {
                new (self) LeafExtension(make_extension(given));
            },
            nb::arg("rules"))
        .def("extend", &extend, nb::arg("row_indptr"), nb::arg("rows"), nb::arg("label"),
             nb::arg("values"), nb::arg("component"),
             "The values of a component's labels for each leaf, one leaf after the other.");
}

}  // namespace ramify::bindings
