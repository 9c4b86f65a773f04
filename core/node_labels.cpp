#include "node_labels.hpp"

#include <algorithm>
#include <bit>

#include "random.hpp"

namespace ramify {

namespace {

// Values of LabelCount::local beside numbers and turned labels.
constexpr std::uint32_t copied = 0xFFFFFFFFu;      // counts with the label it is a copy of
constexpr std::uint32_t constant = 0xFFFFFFFEu;    // does not count at all
constexpr std::uint32_t folded = 0xFFFFFFFDu;      // counts in the sums of its one entry
constexpr std::uint32_t turned_bit = 0x80000000u;  // an index into turned_

bool is_turned(std::uint32_t local) {
    return (local & turned_bit) != 0 && local < folded;
}

/// The labels of rows as they are.
struct RowLabels {
    const Targets& targets;
    const NodeRows& rows;

    std::size_t n_labels() const { return targets.n_labels(); }
    auto ids(std::size_t e) const { return targets.labels.row(rows.row[e]); }
    double weight(std::size_t id) const { return targets.label_weight[id]; }
    double single(std::size_t) const { return 0; }
};

/// The labels of some entries of a node as it numbers them; fillers have a number past the end.
struct ParentLabels {
    const NodeLabels& parent;
    std::span<const std::uint32_t> above;

    std::size_t n_labels() const { return parent.n_local(); }
    std::span<const std::uint32_t> ids(std::size_t e) const {
        const auto begin = parent.indptr[above[e]];
        return {parent.ids.data() + begin, parent.indptr[above[e] + 1] - begin};
    }
    double weight(std::size_t id) const { return parent.label_weight[id]; }
    double single(std::size_t e) const { return parent.single[above[e]]; }
};

}  // namespace

void NodeLabelsBuilder::build(const NodeRows& rows, NodeLabels& node) {
    build_from(RowLabels{targets_, rows}, rows, node);
}

void NodeLabelsBuilder::build_below(const NodeLabels& parent, std::span<const std::uint32_t> above,
                                    const NodeRows& rows, NodeLabels& node) {
    build_from(ParentLabels{parent, above}, rows, node);
}

template <typename Source>
void NodeLabelsBuilder::build_from(const Source& source, const NodeRows& rows, NodeLabels& node) {
    count(source, rows);
    number(source, rows.size(), node);
    make_room(rows.size(), node);
    fill(source, rows, node);
}

template <typename Source>
void NodeLabelsBuilder::count(const Source& source, const NodeRows& rows) {
    // Fillers are counted too.
    counts_.assign(source.n_labels() + NodeLabels::n_fillers, LabelCount{});
    weight_ = 0;
    key_sum_ = 0;
    n_listed_ = 0;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const std::uint64_t key = mix(rows.row[e]);
        const double weight = rows.weight[e];
        weight_ += weight;
        key_sum_ += key;
        const auto ids = source.ids(e);
        n_listed_ += ids.size();
        for (const auto id : ids) {
            auto& seen = counts_[static_cast<std::size_t>(id)];
            seen.n += 1;
            seen.total += weight;
            seen.signature += key;
        }
    }
}

template <typename Source>
void NodeLabelsBuilder::number(const Source& source, std::size_t n_entries, NodeLabels& node) {
    node.label_weight.clear();
    node.label_total.clear();
    turned_.clear();
    const std::size_t n_labels = source.n_labels();
    std::size_t n_present = 0;
    for (std::size_t id = 0; id < n_labels; ++id) n_present += counts_[id].n > 0;
    if (compression_.binary) {
        slot_mask_ = std::bit_ceil(2 * n_present + 1) - 1;
        slots_.assign(slot_mask_ + 1, Slot{0, 0, 0});
    }
    if (fates_.size() < counts_.size()) fates_.resize(counts_.size());
    std::fill_n(fates_.begin() + static_cast<std::ptrdiff_t>(n_labels), NodeLabels::n_fillers,
                LabelFate{0, constant});
    for (std::size_t id = 0; id < n_labels; ++id) {
        const LabelCount& seen = counts_[id];
        if (seen.n == 0) continue;
        if (compression_.binary && seen.n == n_entries) {
            fates_[id] = {0, constant};
        } else if (compression_.binary && 2 * seen.n > n_entries) {
            const LabelCount lacking{weight_ - seen.total, key_sum_ - seen.signature,
                                     static_cast<std::uint32_t>(n_entries) - seen.n};
            fates_[id] = {0, turned_bit | static_cast<std::uint32_t>(turned_.size())};
            turned_.push_back({number_label(lacking, source.weight(id), node), no_entry});
        } else {
            fates_[id] = number_label(seen, source.weight(id), node);
        }
    }
}

/// A number for a set of rows, or why it gets none. Two labels count as copies when the sums of
/// 64-bit row keys and the numbers of rows agree: a false match among a million labels has a
/// chance of about 1e-8.
NodeLabelsBuilder::LabelFate NodeLabelsBuilder::number_label(const LabelCount& seen, double weight,
                                                             NodeLabels& node) {
    if (compression_.fold_single && seen.n == 1) return {weight, folded};
    const auto local = static_cast<std::uint32_t>(node.label_weight.size());
    if (compression_.binary) {
        auto slot = seen.signature & slot_mask_;
        for (; slots_[slot].n > 0; slot = (slot + 1) & slot_mask_) {
            if (slots_[slot].signature == seen.signature && slots_[slot].n == seen.n) {
                // A row that has a copy has the original too: the copy needs no number.
                node.label_weight[slots_[slot].local] += weight;
                return {0, copied};
            }
        }
        slots_[slot] = {seen.signature, seen.n, local};
    }
    node.label_weight.push_back(weight);
    node.label_total.push_back(seen.total);
    return {0, local};
}

void NodeLabelsBuilder::make_room(std::size_t n_entries, NodeLabels& node) const {
    node.indptr.resize(n_entries + 1);
    node.own.resize(n_entries);
    node.cross.resize(n_entries);
    node.single.resize(n_entries);
    const std::size_t most = n_listed_ + n_entries * (turned_.size() + NodeLabels::block) + 1;
    if (node.ids.size() < most) node.ids.resize(most);
}

template <typename Source>
void NodeLabelsBuilder::fill(const Source& source, const NodeRows& rows, NodeLabels& node) {
    node.weight = weight_;
    node.mass = node.square = 0;
    for (std::size_t l = 0; l < node.n_local(); ++l) {
        node.square += node.label_weight[l] * node.label_total[l] * node.label_total[l];
    }
    std::uint32_t k = 0;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        node.indptr[e] = k;
        double single = source.single(e);
        // Every number is written, and stays if it is one: no branch to mispredict.
        const auto add = [&](const LabelFate& fate) {
            node.ids[k] = fate.local;
            k += fate.local < turned_bit;
            single += fate.folded;
        };
        for (const auto id : source.ids(e)) {
            const LabelFate& fate = fates_[static_cast<std::size_t>(id)];
            add(fate);
            if (is_turned(fate.local)) turned_[fate.local & ~turned_bit].had_by = e;
        }
        for (const auto& turned : turned_) {
            if (turned.had_by != e) add(turned.fate);
        }
        k = finish_entry(e, k, rows.weight[e], single, node);
    }
    node.indptr[rows.size()] = k;
}

/// Sums up what entry e's labels add to the node and fills up its list, which ends at k.
std::uint32_t NodeLabelsBuilder::finish_entry(std::size_t e, std::uint32_t k, double weight,
                                              double single, NodeLabels& node) {
    double own = single;
    double cross = single * weight;
    for (auto j = node.indptr[e]; j < k; ++j) {
        const double w = node.label_weight[node.ids[j]];
        own += w;
        cross += w * node.label_total[node.ids[j]];
    }
    for (; k % NodeLabels::block != 0; ++k) {
        node.ids[k] = static_cast<std::uint32_t>(node.n_local() + k % NodeLabels::n_fillers);
    }
    node.own[e] = own;
    node.cross[e] = cross;
    node.single[e] = single;
    node.mass += weight * own;
    node.square += single * weight * weight;
    return k;
}

}  // namespace ramify
