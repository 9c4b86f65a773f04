#include "tree_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "matrices.hpp"
#include "tree/packed.hpp"

namespace ramify::bindings {

namespace {

using Arrays = nb::typed<nb::dict, nb::str, nb::object>;

// ---- reading -------------------------------------------------------------------------------

/// Any one-dimensional array; its type is checked when it is read.
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename To, typename From>
bool read_as(const AnyVector& array, std::vector<To>& values) {
    if (array.dtype() != nb::dtype<From>()) return false;
    const From* data = static_cast<const From*>(array.data());
    if constexpr (std::is_integral_v<To>) {
        require(
            std::all_of(data, data + array.size(), [](From x) { return std::in_range<To>(x); }),
            "damaged tree: a number is out of range");
    }
    values.reserve(array.size());
    for (std::size_t k = 0; k < array.size(); ++k) values.push_back(static_cast<To>(data[k]));
    return true;
}

template <typename To, typename... From>
std::vector<To> read_any(const Arrays& arrays, const char* key) {
    const auto array = nb::cast<AnyVector>(arrays[key], false);
    std::vector<To> values;
    require((read_as<To, From>(array, values) || ...), "damaged tree: numbers of another type");
    return values;
}

template <typename T>
std::vector<T> read_whole(const Arrays& arrays, const char* key) {
    return read_any<T, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                    std::int32_t, std::int64_t>(arrays, key);
}

std::vector<double> read_real(const Arrays& arrays, const char* key) {
    return read_any<double, double, float, std::uint8_t, std::uint16_t, std::uint32_t>(arrays,
                                                                                       key);
}

Tree read_plain(const Arrays& arrays) {
    Tree tree;
    tree.feature = read_whole<std::int32_t>(arrays, "feature");
    tree.threshold = read_real(arrays, "threshold");
    tree.weight = read_real(arrays, "weight");
    tree.n_samples = read_whole<std::int64_t>(arrays, "n_samples");
    tree.impurity = read_real(arrays, "impurity");
    tree.gain = read_real(arrays, "gain");
    tree.child_indptr = read_whole<std::int64_t>(arrays, "child_indptr");
    tree.child = read_whole<std::int32_t>(arrays, "child");
    tree.share = read_real(arrays, "share");
    tree.category_indptr = read_whole<std::int64_t>(arrays, "category_indptr");
    tree.category_branch = read_whole<std::int32_t>(arrays, "category_branch");
    tree.value_indptr = read_whole<std::int64_t>(arrays, "value_indptr");
    tree.value_label = read_whole<std::int32_t>(arrays, "value_label");
    tree.value = read_real(arrays, "value");
    return tree;
}

PackedTree read_packed(const Arrays& arrays) {
    PackedTree packed;
    packed.feature = read_whole<std::int32_t>(arrays, "feature");
    packed.n_samples = read_whole<std::int64_t>(arrays, "n_samples");
    packed.weight = read_real(arrays, "weight");
    packed.impurity = read_real(arrays, "impurity");
    packed.threshold = read_real(arrays, "threshold");
    packed.gain = read_real(arrays, "gain");
    packed.n_branches = read_whole<std::int64_t>(arrays, "n_branches");
    packed.share = read_real(arrays, "share");
    packed.n_categories = read_whole<std::int64_t>(arrays, "n_categories");
    packed.category_branch = read_whole<std::int32_t>(arrays, "category_branch");
    packed.n_values = read_whole<std::int64_t>(arrays, "n_values");
    packed.label_gap = read_whole<std::uint8_t>(arrays, "label_gap");
    packed.far_gap = read_whole<std::int64_t>(arrays, "far_gap");
    packed.n_distinct = read_whole<std::int64_t>(arrays, "n_distinct");
    packed.value_number = read_whole<std::uint32_t>(arrays, "value_number");
    packed.numerator = read_whole<std::int64_t>(arrays, "numerator");
    packed.odd_value = read_real(arrays, "odd_value");
    return packed;
}

void check_ranges(const std::vector<std::int64_t>& indptr, std::size_t n_nodes, std::size_t size) {
    require(indptr.size() == n_nodes + 1 && indptr.front() == 0 &&
                indptr.back() == static_cast<std::int64_t>(size) && std::ranges::is_sorted(indptr),
            "damaged tree: ranges do not fit");
}

void check_node(const Tree& tree, std::size_t i) {
    const auto n_branches = tree.child_indptr[i + 1] - tree.child_indptr[i];
    require(tree.feature[i] < 0 ? n_branches == 0 : n_branches > 0,
            "damaged tree: a leaf with branches or a test without");
    const bool numeric = tree.category_indptr[i] == tree.category_indptr[i + 1];
    require(tree.feature[i] < 0 || !numeric || n_branches == 2,
            "damaged tree: a numeric test needs two branches");
    for (auto k = tree.child_indptr[i]; k < tree.child_indptr[i + 1]; ++k) {
        const auto child = tree.child[static_cast<std::size_t>(k)];
        require(child > static_cast<std::int64_t>(i) &&
                    child < static_cast<std::int64_t>(tree.n_nodes()),
                "damaged tree: children must follow their parent");
    }
    for (auto k = tree.category_indptr[i]; k < tree.category_indptr[i + 1]; ++k) {
        const auto branch = tree.category_branch[static_cast<std::size_t>(k)];
        require(branch >= -1 && branch < n_branches, "damaged tree: no such branch");
    }
}

void check_tree(const Tree& tree) {
    const std::size_t n = tree.n_nodes();
    require(n > 0, "damaged tree: no nodes");
    require(tree.threshold.size() == n && tree.weight.size() == n && tree.n_samples.size() == n &&
                tree.impurity.size() == n && tree.gain.size() == n,
            "damaged tree: arrays differ in length");
    check_ranges(tree.child_indptr, n, tree.child.size());
    check_ranges(tree.category_indptr, n, tree.category_branch.size());
    check_ranges(tree.value_indptr, n, tree.value_label.size());
    require(tree.share.size() == tree.child.size() && tree.value.size() == tree.value_label.size(),
            "damaged tree: arrays differ in length");
    for (std::size_t i = 0; i < n; ++i) check_node(tree, i);
    require(std::ranges::all_of(tree.value_label, [](auto label) { return label >= 0; }),
            "damaged tree: a negative label");
}

// ---- writing -------------------------------------------------------------------------------

template <typename T, typename From>
nb::object converted(const std::vector<From>& values) {
    std::vector<T> small(values.size());
    std::ranges::transform(values, small.begin(), [](From x) { return static_cast<T>(x); });
    return nb::cast(to_numpy(std::move(small)));
}

/// Whole numbers in the smallest type that holds them all.
template <typename From>
nb::object narrow(const std::vector<From>& values) {
    if (values.empty()) return converted<std::uint8_t>(values);
    const auto [least, most] = std::ranges::minmax(values);
    const auto fits = [&]<typename T>(T) {
        return std::in_range<T>(least) && std::in_range<T>(most);
    };
    if (fits(std::uint8_t{})) return converted<std::uint8_t>(values);
    if (fits(std::int8_t{})) return converted<std::int8_t>(values);
    if (fits(std::uint16_t{})) return converted<std::uint16_t>(values);
    if (fits(std::int16_t{})) return converted<std::int16_t>(values);
    if (fits(std::uint32_t{})) return converted<std::uint32_t>(values);
    if (fits(std::int32_t{})) return converted<std::int32_t>(values);
    return converted<std::int64_t>(values);
}

/// Numbers as counts if they are all whole, else as floats in the smallest exact type.
nb::object narrow(const std::vector<double>& values) {
    constexpr double largest = std::numeric_limits<std::uint32_t>::max();
    const bool counts = std::ranges::all_of(values, [](double x) {
        return x >= 0 && x <= largest && !std::signbit(x) && x == std::floor(x);
    });
    if (counts) return narrow(std::vector<std::int64_t>(values.begin(), values.end()));
    const bool single = std::ranges::all_of(values, [](double x) {
        return std::abs(x) <= std::numeric_limits<float>::max() && double(float(x)) == x;
    });
    return single ? converted<float>(values) : converted<double>(values);
}

nb::dict write_packed(const PackedTree& packed) {
    nb::dict arrays;
    arrays["feature"] = narrow(packed.feature);
    arrays["n_samples"] = narrow(packed.n_samples);
    arrays["weight"] = narrow(packed.weight);
    arrays["impurity"] = narrow(packed.impurity);
    arrays["threshold"] = narrow(packed.threshold);
    arrays["gain"] = narrow(packed.gain);
    arrays["n_branches"] = narrow(packed.n_branches);
    arrays["share"] = narrow(packed.share);
    arrays["n_categories"] = narrow(packed.n_categories);
    arrays["category_branch"] = narrow(packed.category_branch);
    arrays["n_values"] = narrow(packed.n_values);
    arrays["label_gap"] = narrow(packed.label_gap);
    arrays["far_gap"] = narrow(packed.far_gap);
    arrays["n_distinct"] = narrow(packed.n_distinct);
    arrays["value_number"] = narrow(packed.value_number);
    arrays["numerator"] = narrow(packed.numerator);
    arrays["odd_value"] = narrow(packed.odd_value);
    return arrays;
}

constexpr const char* plain_names[] = {
    "feature",      "threshold", "weight", "n_samples",       "impurity",        "gain",
    "child_indptr", "child",     "share",  "category_indptr", "category_branch", "value_indptr",
    "value_label",  "value"};

}  // namespace

Tree tree_from_arrays(const Arrays& arrays) {
    Tree tree = arrays.contains("label_gap") ? unpack(read_packed(arrays)) : read_plain(arrays);
    check_tree(tree);
    return tree;
}

nb::dict packed_arrays(nb::handle_t<Tree> self) {
    const auto packed = pack(nb::cast<const Tree&>(self));
    if (packed) return write_packed(*packed);
    nb::dict arrays;
    for (const char* name : plain_names) arrays[name] = self.attr(name);
    return arrays;
}

}  // namespace ramify::bindings
