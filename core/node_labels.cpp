#include "node_labels.hpp"

#include <algorithm>
#include <bit>

#include "random.hpp"

namespace ramify {

namespace {

constexpr std::uint32_t not_numbered = 0xFFFFFFFFu;

}  // namespace

NodeLabelsBuilder::NodeLabelsBuilder(const Targets& targets, Compression compression)
    : targets_(targets), compression_(compression), counts_(targets.n_labels()) {}

void NodeLabelsBuilder::build(const NodeRows& rows, NodeLabels& node) {
    count(rows);
    number(rows.size(), node);
    fill(rows, node);
    forget();
}

std::span<const LabelSum> NodeLabelsBuilder::sums(const NodeRows& rows) {
    count(rows);
    std::sort(touched_.begin(), touched_.end());
    sums_.clear();
    for (const auto label : touched_) {
        const auto c = static_cast<std::size_t>(label);
        sums_.push_back({label, counts_[c].total, targets_.label_weight[c]});
    }
    forget();
    return sums_;
}

void NodeLabelsBuilder::forget() {
    for (const auto label : touched_) counts_[static_cast<std::size_t>(label)] = LabelCount{};
}

void NodeLabelsBuilder::count(const NodeRows& rows) {
    touched_.clear();
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const std::uint64_t key = mix(rows.row[e]);
        for (const auto label : targets_.labels.row(rows.row[e])) {
            auto& counted = counts_[static_cast<std::size_t>(label)];
            if (counted.n == 0) touched_.push_back(label);
            counted.n += 1;
            counted.total += rows.weight[e];
            counted.signature += key;
        }
    }
}

void NodeLabelsBuilder::number(std::size_t n_entries, NodeLabels& node) {
    node.label_weight.clear();
    node.label_total.clear();
    node.square = 0;
    if (compression_.merge_copies) {
        slot_mask_ = std::bit_ceil(2 * touched_.size() + 1) - 1;
        slots_.assign(slot_mask_ + 1, -1);
    }
    for (const auto label : touched_) {
        const auto c = static_cast<std::size_t>(label);
        auto& counted = counts_[c];
        counted.local = not_numbered;
        if (compression_.drop_constant && counted.n == n_entries) continue;
        const double w = targets_.label_weight[c];
        node.square += w * counted.total * counted.total;
        if (compression_.fold_single && counted.n == 1) continue;
        if (compression_.merge_copies) {
            // A row that has a copy has the original too: the copy itself needs no number.
            const std::uint32_t original = find_copy(c);
            if (original != not_numbered) {
                node.label_weight[original] += w;
                continue;
            }
        }
        counted.local = static_cast<std::uint32_t>(node.label_weight.size());
        node.label_weight.push_back(w);
        node.label_total.push_back(counted.total);
    }
}

/// The number of an earlier label with the same rows, or not_numbered. Two labels count as copies
/// when the sums of 64-bit row keys and the numbers of rows agree: a false match among a million
/// labels has a chance of about 1e-8.
std::uint32_t NodeLabelsBuilder::find_copy(std::size_t label) {
    const auto& counted = counts_[label];
    auto slot = counted.signature & slot_mask_;
    for (; slots_[slot] >= 0; slot = (slot + 1) & slot_mask_) {
        const auto& other = counts_[static_cast<std::size_t>(slots_[slot])];
        if (other.signature == counted.signature && other.n == counted.n) return other.local;
    }
    slots_[slot] = static_cast<std::int32_t>(label);
    return not_numbered;
}

void NodeLabelsBuilder::fill(const NodeRows& rows, NodeLabels& node) {
    const std::size_t n = rows.size();
    const auto n_all = static_cast<std::uint32_t>(n);
    node.indptr.assign(1, 0);
    node.ids.clear();
    node.own.resize(n);
    node.cross.resize(n);
    node.weight = 0;
    node.mass = 0;
    for (std::size_t e = 0; e < n; ++e) {
        double own = 0;
        double cross = 0;
        for (const auto label : targets_.labels.row(rows.row[e])) {
            const auto c = static_cast<std::size_t>(label);
            const auto& counted = counts_[c];
            if (compression_.drop_constant && counted.n == n_all) continue;
            const double w = targets_.label_weight[c];
            own += w;
            cross += w * counted.total;
            if (counted.local != not_numbered) node.ids.push_back(counted.local);
        }
        node.indptr.push_back(static_cast<std::uint32_t>(node.ids.size()));
        node.own[e] = own;
        node.cross[e] = cross;
        node.weight += rows.weight[e];
        node.mass += rows.weight[e] * own;
    }
}

}  // namespace ramify
