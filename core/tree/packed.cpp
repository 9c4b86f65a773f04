#include "tree/packed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>

namespace ramify {

namespace {

constexpr double largest_count = 4294967295.0;

void require(bool fits) {
    if (!fits) throw std::invalid_argument("damaged tree: its parts do not fit together");
}

std::size_t count_tests(const std::vector<std::int32_t>& feature) {
    return static_cast<std::size_t>(std::ranges::count_if(feature, [](auto f) { return f >= 0; }));
}

/// The shares of a test's branches as they follow from the weights of its children.
void derive_shares(std::span<const std::int32_t> children, const std::vector<double>& weight,
                   std::vector<double>& share) {
    double total = 0;
    for (const auto child : children) total += weight[static_cast<std::size_t>(child)];
    if (children.size() == 2) {
        const double first = weight[static_cast<std::size_t>(children[0])] / total;
        share.insert(share.end(), {first, 1 - first});
        return;
    }
    for (const auto child : children) {
        share.push_back(weight[static_cast<std::size_t>(child)] / total);
    }
}

template <typename T>
std::span<const T> of_node(const std::vector<std::int64_t>& indptr, const std::vector<T>& values,
                           std::size_t node) {
    return std::span<const T>(values).subspan(
        static_cast<std::size_t>(indptr[node]),
        static_cast<std::size_t>(indptr[node + 1] - indptr[node]));
}

/// Bitwise: -0.0 differs from 0.0, and NaN equals itself.
template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

bool same(const Tree& a, const Tree& b) {
    return same(a.feature, b.feature) && same(a.threshold, b.threshold) &&
           same(a.weight, b.weight) && same(a.n_samples, b.n_samples) &&
           same(a.impurity, b.impurity) && same(a.gain, b.gain) &&
           same(a.child_indptr, b.child_indptr) && same(a.child, b.child) &&
           same(a.share, b.share) && same(a.category_indptr, b.category_indptr) &&
           same(a.category_branch, b.category_branch) && same(a.value_indptr, b.value_indptr) &&
           same(a.value_label, b.value_label) && same(a.value, b.value);
}

// ---- packing -------------------------------------------------------------------------------

void pack_tests(const Tree& tree, PackedTree& packed) {
    bool all_two = true;
    bool any_nominal = false;
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        if (tree.feature[i] < 0) continue;
        packed.threshold.push_back(tree.threshold[i]);
        packed.gain.push_back(tree.gain[i]);
        packed.n_branches.push_back(tree.child_indptr[i + 1] - tree.child_indptr[i]);
        packed.n_categories.push_back(tree.category_indptr[i + 1] - tree.category_indptr[i]);
        all_two &= packed.n_branches.back() == 2;
        any_nominal |= packed.n_categories.back() > 0;
    }
    if (all_two) packed.n_branches.clear();
    if (!any_nominal) packed.n_categories.clear();
    packed.category_branch = tree.category_branch;
}

void pack_shares(const Tree& tree, PackedTree& packed) {
    std::vector<double> derived, first, rest;
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        const auto shares = of_node(tree.child_indptr, tree.share, i);
        if (shares.empty()) continue;
        derive_shares(of_node(tree.child_indptr, tree.child, i), tree.weight, derived);
        first.push_back(shares[0]);
        rest.insert(rest.end(), {shares[0], 1 - shares[0]});
    }
    if (same(derived, tree.share)) return;
    packed.share = packed.n_branches.empty() && same(rest, tree.share) ? first : tree.share;
}

/// Returns false if the labels do not increase.
bool pack_labels(std::span<const std::int32_t> labels, PackedTree& packed) {
    std::int64_t before = -1;
    for (const auto label : labels) {
        const std::int64_t gap = label - before - 1;
        if (gap < 0) return false;
        before = label;
        const bool is_far = gap >= PackedTree::far_mark;
        packed.label_gap.push_back(is_far ? PackedTree::far_mark : static_cast<std::uint8_t>(gap));
        if (is_far) packed.far_gap.push_back(gap);
    }
    return true;
}

/// The integer that divided by the weight gives exactly the share; 0 if there is none.
std::int64_t find_numerator(double share, double weight) {
    const double count = std::rint(share * weight);
    const bool whole = count >= 1 && count <= largest_count && count / weight == share;
    return whole ? static_cast<std::int64_t>(count) : 0;
}

void pack_values(std::span<const double> values, double weight, PackedTree& packed) {
    // Ordered by their bits, which is the order of the numbers unless they are negative.
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    std::vector<double> distinct(values.begin(), values.end());
    std::ranges::sort(distinct, {}, bits);
    const auto repeated = std::ranges::unique(distinct, {}, bits);
    distinct.erase(repeated.begin(), repeated.end());
    packed.n_distinct.push_back(static_cast<std::int64_t>(distinct.size()));
    for (const double value : values) {
        const auto at = std::ranges::lower_bound(distinct, bits(value), {}, bits);
        packed.value_number.push_back(static_cast<std::uint32_t>(at - distinct.begin()));
    }
    for (const double value : distinct) {
        packed.numerator.push_back(find_numerator(value, weight));
        if (packed.numerator.back() == 0) packed.odd_value.push_back(value);
    }
}

// ---- unpacking -----------------------------------------------------------------------------

/// Reads the elements of an array in order; reading past the end is an error.
template <typename T>
class Source {
  public:
    explicit Source(const std::vector<T>& from) : left_(from) {}
    T next() { return take(1)[0]; }
    std::span<const T> take(std::int64_t n) {
        require(n >= 0 && static_cast<std::uint64_t>(n) <= left_.size());
        const auto taken = left_.first(static_cast<std::size_t>(n));
        left_ = left_.subspan(taken.size());
        return taken;
    }
    bool spent() const { return left_.empty(); }

  private:
    std::span<const T> left_;
};

void check_sizes(const PackedTree& packed) {
    const std::size_t n = packed.feature.size();
    const std::size_t n_tests = count_tests(packed.feature);
    const auto whole_or_none = [&](const auto& array) {
        return array.empty() || array.size() == n_tests;
    };
    require(n < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
    require(packed.n_samples.size() == n && packed.weight.size() == n &&
            packed.impurity.size() == n && packed.n_values.size() == n);
    require(packed.threshold.size() == n_tests && packed.gain.size() == n_tests);
    require(whole_or_none(packed.n_branches) && whole_or_none(packed.n_categories));
    require(packed.value_number.size() == packed.label_gap.size());
}

void unpack_tests(const PackedTree& packed, Tree& tree) {
    Source thresholds(packed.threshold), gains(packed.gain);
    Source branches(packed.n_branches), categories(packed.n_categories);
    Source codes(packed.category_branch);
    for (const auto feature : packed.feature) {
        const bool is_test = feature >= 0;
        tree.threshold.push_back(is_test ? thresholds.next() : 0);
        tree.gain.push_back(is_test ? gains.next() : 0);
        tree.child_indptr.push_back(static_cast<std::int64_t>(tree.child.size()));
        tree.category_indptr.push_back(static_cast<std::int64_t>(tree.category_branch.size()));
        if (!is_test) continue;
        const auto n_branches = packed.n_branches.empty() ? 2 : branches.next();
        // Every branch leads to a different node.
        require(n_branches > 0 && static_cast<std::uint64_t>(n_branches) + tree.child.size() <
                                      packed.feature.size());
        tree.child.resize(tree.child.size() + static_cast<std::size_t>(n_branches), -1);
        if (packed.n_categories.empty()) continue;
        const auto taken = codes.take(categories.next());
        tree.category_branch.insert(tree.category_branch.end(), taken.begin(), taken.end());
    }
    require(codes.spent());
    tree.child_indptr.push_back(static_cast<std::int64_t>(tree.child.size()));
    tree.category_indptr.push_back(static_cast<std::int64_t>(tree.category_branch.size()));
}

/// Every node but the first is the next free branch of the last test that has one.
void link_children(Tree& tree) {
    require(!tree.feature.empty() && tree.child.size() + 1 == tree.feature.size());
    std::vector<std::size_t> open;
    std::vector<std::int64_t> next(tree.child_indptr.begin(), tree.child_indptr.end() - 1);
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        while (!open.empty() && next[open.back()] == tree.child_indptr[open.back() + 1]) {
            open.pop_back();
        }
        if (i > 0) {
            require(!open.empty());
            tree.child[static_cast<std::size_t>(next[open.back()]++)] =
                static_cast<std::int32_t>(i);
        }
        open.push_back(i);
    }
}

void unpack_shares(const PackedTree& packed, Tree& tree) {
    if (packed.share.empty()) {
        for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
            const auto children = of_node(tree.child_indptr, tree.child, i);
            if (!children.empty()) derive_shares(children, tree.weight, tree.share);
        }
        return;
    }
    if (packed.n_branches.empty() && packed.share.size() == packed.gain.size()) {
        for (const double first : packed.share) {
            tree.share.insert(tree.share.end(), {first, 1 - first});
        }
        return;
    }
    require(packed.share.size() == tree.child.size());
    tree.share = packed.share;
}

/// Turns gaps into labels and numbers into shares, node by node.
class Values {
  public:
    explicit Values(const PackedTree& packed)
        : gaps_(packed.label_gap),
          far_(packed.far_gap),
          distinct_(packed.n_distinct),
          numbers_(packed.value_number),
          numerators_(packed.numerator),
          odd_(packed.odd_value) {}

    void append(std::int64_t n_values, double weight, Tree& tree) {
        if (n_values == 0) return;
        append_labels(n_values, tree.value_label);
        shares_.clear();
        for (const auto numerator : numerators_.take(distinct_.next())) {
            shares_.push_back(numerator == 0 ? odd_.next()
                                             : static_cast<double>(numerator) / weight);
        }
        for (const auto number : numbers_.take(n_values)) {
            require(number < shares_.size());
            tree.value.push_back(shares_[number]);
        }
    }

    bool spent() const {
        return gaps_.spent() && far_.spent() && distinct_.spent() && numerators_.spent() &&
               odd_.spent();
    }

  private:
    void append_labels(std::int64_t n_values, std::vector<std::int32_t>& labels) {
        constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
        std::int64_t label = -1;
        for (const auto mark : gaps_.take(n_values)) {
            const std::int64_t gap = mark == PackedTree::far_mark ? far_.next() : mark;
            require(gap >= 0 && gap < largest - label);
            label += gap + 1;
            labels.push_back(static_cast<std::int32_t>(label));
        }
    }

    Source<std::uint8_t> gaps_;
    Source<std::int64_t> far_;
    Source<std::int64_t> distinct_;
    Source<std::uint32_t> numbers_;
    Source<std::int64_t> numerators_;
    Source<double> odd_;
    std::vector<double> shares_;  // the distinct ones of this node
};

}  // namespace

std::optional<PackedTree> pack(const Tree& tree) {
    PackedTree packed;
    packed.feature = tree.feature;
    packed.n_samples = tree.n_samples;
    packed.weight = tree.weight;
    packed.impurity = tree.impurity;
    pack_tests(tree, packed);
    pack_shares(tree, packed);
    packed.label_gap.reserve(tree.value.size());
    packed.value_number.reserve(tree.value.size());
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        const auto labels = of_node(tree.value_indptr, tree.value_label, i);
        packed.n_values.push_back(static_cast<std::int64_t>(labels.size()));
        if (labels.empty()) continue;
        if (!pack_labels(labels, packed)) return std::nullopt;
        pack_values(of_node(tree.value_indptr, tree.value, i), tree.weight[i], packed);
    }
    try {
        if (!same(unpack(packed), tree)) return std::nullopt;
    } catch (const std::invalid_argument&) {
        return std::nullopt;  // its nodes are in another order
    }
    return packed;
}

Tree unpack(const PackedTree& packed) {
    check_sizes(packed);
    Tree tree;
    tree.feature = packed.feature;
    tree.n_samples = packed.n_samples;
    tree.weight = packed.weight;
    tree.impurity = packed.impurity;
    unpack_tests(packed, tree);
    link_children(tree);
    unpack_shares(packed, tree);
    tree.value_label.reserve(packed.label_gap.size());
    tree.value.reserve(packed.label_gap.size());
    Values values(packed);
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        tree.value_indptr.push_back(static_cast<std::int64_t>(tree.value.size()));
        values.append(packed.n_values[i], tree.weight[i], tree);
    }
    require(values.spent());
    tree.value_indptr.push_back(static_cast<std::int64_t>(tree.value.size()));
    return tree;
}

}  // namespace ramify
