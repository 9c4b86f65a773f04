#include "criteria/node_labels.hpp"

#include <algorithm>
#include <bit>

#include "common/random.hpp"

namespace ramify {

namespace {

/// The labels of rows as they are.
struct RowLabels {
    const Targets& targets;
    const NodeRows& rows;

    std::size_t n_labels() const { return targets.n_labels(); }
    auto ids(std::size_t e) const { return targets.labels.row(rows.row[e]); }
    double weight(std::size_t id) const { return targets.label_weight[id]; }
    double single(std::size_t) const { return 0; }
};

/// The labels of some entries of the parent, as numbered there; fillers are past the end.
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

NodeLabels number_labels(const Targets& targets, std::size_t n_rows) {
    NodeRows rows;
    for (std::size_t r = 0; r < n_rows; ++r) {
        rows.push_back(static_cast<std::uint32_t>(r), 1.0, 1.0);
    }
    NodeLabels labels;
    NodeLabelsBuilder(targets, {true, true}).build(rows, labels);
    return labels;
}

void NodeLabelsBuilder::build(const NodeRows& rows, NodeLabels& node) {
    build_from(RowLabels{targets_, rows}, rows, node);
}

void NodeLabelsBuilder::build_below(const NodeLabels& parent, std::span<const std::uint32_t> above,
                                    const NodeRows& rows, NodeLabels& node) {
    // If half of the entries remain, few labels could be dropped or merged.
    if (2 * rows.size() > parent.n_numbered) {
        carry_over(parent, above, rows, node);
    } else {
        build_from(ParentLabels{parent, above}, rows, node);
    }
}

/// Keeps the numbers of the parent: only totals change, and the sums that depend on them.
void NodeLabelsBuilder::carry_over(const NodeLabels& parent, std::span<const std::uint32_t> above,
                                   const NodeRows& rows, NodeLabels& node) {
    const std::size_t n_local = parent.n_local();
    node.n_numbered = parent.n_numbered;
    node.label_weight = parent.label_weight;
    n_listed_ = parent.n_ids();
    turned_.clear();
    make_room(rows.size(), node);
    totals_.assign(n_local + NodeLabels::n_fillers, 0.0);
    weight_ = 0;
    std::uint32_t k = 0;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const double weight = rows.weight[e];
        const auto end = parent.indptr[above[e] + 1];
        weight_ += weight;
        node.indptr[e] = k;
        for (auto from = parent.indptr[above[e]]; from < end; from += NodeLabels::block) {
            for (std::size_t t = 0; t < NodeLabels::block; ++t, ++k) {
                const auto id = parent.ids[from + t];
                node.ids[k] = id;
                totals_[id] += weight;
            }
        }
    }
    node.indptr[rows.size()] = k;
    node.label_total.assign(totals_.begin(),
                            totals_.begin() + static_cast<std::ptrdiff_t>(n_local));
    node.square = 0;
    for (std::size_t l = 0; l < n_local; ++l) {
        const double weighted = node.label_weight[l] * totals_[l];
        node.square += weighted * totals_[l];
        totals_[l] = weighted;
    }
    std::fill(totals_.begin() + static_cast<std::ptrdiff_t>(n_local), totals_.end(), 0.0);
    sum_entries(parent, above, rows, node);
}

/// The sums of each entry, from those of its parent and the weighted totals.
void NodeLabelsBuilder::sum_entries(const NodeLabels& parent, std::span<const std::uint32_t> above,
                                    const NodeRows& rows, NodeLabels& node) {
    node.weight = weight_;
    node.mass = 0;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        double cross[NodeLabels::block] = {};
        for (auto k = node.indptr[e]; k < node.indptr[e + 1]; k += NodeLabels::block) {
            for (std::size_t t = 0; t < NodeLabels::block; ++t) {
                cross[t] += totals_[node.ids[k + t]];
            }
        }
        const double weight = rows.weight[e];
        const double single = parent.single[above[e]];
        node.single[e] = single;
        node.own[e] = parent.own[above[e]];
        node.cross[e] = single * weight + ((cross[0] + cross[1]) + (cross[2] + cross[3]));
        node.mass += weight * node.own[e];
        node.square += single * weight * weight;
    }
}

template <typename Source>
void NodeLabelsBuilder::build_from(const Source& source, const NodeRows& rows, NodeLabels& node) {
    node.n_numbered = rows.size();
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
    turned_.assign(1, LabelFate{});
    owners_.clear();
    const std::size_t n_labels = source.n_labels();
    if (compression_.binary) {
        slot_mask_ = std::bit_ceil(2 * std::min(n_labels, n_listed_) + 1) - 1;
        slots_.assign(slot_mask_ + 1, Slot{0, 0, 0});
    }
    if (fates_.size() < counts_.size()) fates_.resize(counts_.size());
    for (std::size_t id = 0; id < n_labels; ++id) {
        const LabelCount& seen = counts_[id];
        if (seen.n == 0) continue;
        if (compression_.binary && seen.n == n_entries) {
            fates_[id] = {};
        } else if (compression_.binary && 2 * seen.n > n_entries) {
            const LabelCount lacking{weight_ - seen.total, key_sum_ - seen.signature,
                                     static_cast<std::uint32_t>(n_entries) - seen.n};
            const auto place = static_cast<std::uint32_t>(turned_.size());
            fates_[id] = {.turned = place};
            turned_.push_back(number_label(lacking, source.weight(id), {place, true}, node));
        } else {
            const auto place = static_cast<std::uint32_t>(id);
            fates_[id] = number_label(seen, source.weight(id), {place, false}, node);
        }
    }
    std::fill_n(fates_.begin() + static_cast<std::ptrdiff_t>(n_labels), NodeLabels::n_fillers,
                LabelFate{});
    weigh_numbered(node);
}

/// Numbers a label, unless it is folded or a copy. Two labels count as copies when the sums of
/// 64-bit row keys and the numbers of rows agree: a false match among a million labels has a
/// chance of about 1e-8.
NodeLabelsBuilder::LabelFate NodeLabelsBuilder::number_label(const LabelCount& seen, double weight,
                                                             Owner owner, NodeLabels& node) {
    if (compression_.fold_single && seen.n == 1) return {.single = weight};
    const auto local = static_cast<std::uint32_t>(node.label_weight.size());
    if (compression_.binary) {
        auto slot = seen.signature & slot_mask_;
        for (; slots_[slot].n > 0; slot = (slot + 1) & slot_mask_) {
            if (slots_[slot].signature == seen.signature && slots_[slot].n == seen.n) {
                // A row that has a copy has the original too: the copy needs no number.
                node.label_weight[slots_[slot].local] += weight;
                return {};
            }
        }
        slots_[slot] = {seen.signature, seen.n, local};
    }
    node.label_weight.push_back(weight);
    node.label_total.push_back(seen.total);
    owners_.push_back(owner);
    return {.local = local};
}

/// What numbered labels add to an entry; known once all copies have been merged.
void NodeLabelsBuilder::weigh_numbered(const NodeLabels& node) {
    for (std::size_t l = 0; l < node.n_local(); ++l) {
        LabelFate& fate = owners_[l].turned ? turned_[owners_[l].place] : fates_[owners_[l].place];
        fate.own = node.label_weight[l];
        fate.cross = node.label_weight[l] * node.label_total[l];
    }
}

void NodeLabelsBuilder::make_room(std::size_t n_entries, NodeLabels& node) const {
    node.indptr.resize(n_entries + 1);
    node.own.resize(n_entries);
    node.cross.resize(n_entries);
    node.single.resize(n_entries);
    node.ids.make_room(n_listed_ + n_entries * (turned_.size() + NodeLabels::block) + 1);
}

/// Branch-free: every number is written, and kept if it is valid. The only branch of the loops
/// over the labels of an entry is their end.
template <typename Source>
void NodeLabelsBuilder::fill(const Source& source, const NodeRows& rows, NodeLabels& node) {
    node.weight = weight_;
    node.mass = node.square = 0;
    for (std::size_t l = 0; l < node.n_local(); ++l) {
        node.square += node.label_weight[l] * node.label_total[l] * node.label_total[l];
    }
    had_by_.assign(turned_.size(), no_entry);
    const auto n_local = static_cast<std::uint32_t>(node.n_local());
    std::uint32_t* ids = node.ids.data();
    std::uint32_t k = 0;
    for (std::uint32_t e = 0; e < rows.size(); ++e) {
        double own = 0;
        double cross = 0;
        double single = source.single(e);
        node.indptr[e] = k;
        for (const auto id : source.ids(e)) {
            const LabelFate& fate = fates_[static_cast<std::size_t>(id)];
            ids[k] = fate.local;
            k += fate.local != no_number;
            own += fate.own;
            cross += fate.cross;
            single += fate.single;
            had_by_[fate.turned] = e;
        }
        for (std::size_t t = 1; t < turned_.size(); ++t) {
            const LabelFate& fate = turned_[t];
            const bool lacks = had_by_[t] != e;
            const double counts = lacks ? 1 : 0;
            ids[k] = fate.local;
            k += lacks && fate.local != no_number ? 1 : 0;
            own += counts * fate.own;
            cross += counts * fate.cross;
            single += counts * fate.single;
        }
        for (; k % NodeLabels::block != 0; ++k) ids[k] = n_local + k % NodeLabels::n_fillers;
        const double weight = rows.weight[e];
        node.own[e] = own + single;
        node.cross[e] = cross + single * weight;
        node.single[e] = single;
        node.mass += weight * node.own[e];
        node.square += single * weight * weight;
    }
    node.indptr[rows.size()] = k;
}

}  // namespace ramify
