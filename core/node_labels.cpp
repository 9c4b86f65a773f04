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
    weight_ = 0;
    key_sum_ = 0;
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const std::uint64_t key = mix(rows.row[e]);
        const double weight = rows.weight[e];
        weight_ += weight;
        key_sum_ += key;
        for (const auto label : targets_.labels.row(rows.row[e])) {
            auto& seen = counts_[static_cast<std::size_t>(label)];
            if (seen.n == 0) touched_.push_back(label);
            seen.n += 1;
            seen.total += weight;
            seen.signature += key;
        }
    }
}

void NodeLabelsBuilder::number(std::size_t n_entries, NodeLabels& node) {
    node.label_weight.clear();
    node.label_total.clear();
    node.square = 0;
    turned_.clear();
    if (compression_.binary) {
        slot_mask_ = std::bit_ceil(2 * touched_.size() + 1) - 1;
        slots_.assign(slot_mask_ + 1, Slot{0, 0, 0});
    }
    for (const auto label : touched_) {
        const auto c = static_cast<std::size_t>(label);
        auto& seen = counts_[c];
        const double w = targets_.label_weight[c];
        if (compression_.binary && seen.n == n_entries) {
            seen.local = constant;
        } else if (compression_.binary && 2 * seen.n > n_entries) {
            const LabelCount lacking{weight_ - seen.total, key_sum_ - seen.signature,
                                     static_cast<std::uint32_t>(n_entries) - seen.n, 0};
            const auto local = number_label(lacking, w, node);
            seen.local = turned_bit | static_cast<std::uint32_t>(turned_.size());
            turned_.push_back({w, lacking.total, local, no_entry});
        } else {
            seen.local = number_label(seen, w, node);
        }
    }
}

/// A number for a set of rows, or why it gets none. Two labels count as copies when the sums of
/// 64-bit row keys and the numbers of rows agree: a false match among a million labels has a
/// chance of about 1e-8.
std::uint32_t NodeLabelsBuilder::number_label(const LabelCount& seen, double weight,
                                              NodeLabels& node) {
    node.square += weight * seen.total * seen.total;
    if (compression_.fold_single && seen.n == 1) return folded;
    const auto local = static_cast<std::uint32_t>(node.label_weight.size());
    if (compression_.binary) {
        auto slot = seen.signature & slot_mask_;
        for (; slots_[slot].n > 0; slot = (slot + 1) & slot_mask_) {
            if (slots_[slot].signature == seen.signature && slots_[slot].n == seen.n) {
                // A row that has a copy has the original too: the copy needs no number.
                node.label_weight[slots_[slot].local] += weight;
                return copied;
            }
        }
        slots_[slot] = {seen.signature, seen.n, local};
    }
    node.label_weight.push_back(weight);
    node.label_total.push_back(seen.total);
    return local;
}

void NodeLabelsBuilder::fill(const NodeRows& rows, NodeLabels& node) {
    const std::size_t n = rows.size();
    node.indptr.resize(n + 1);
    node.indptr[0] = 0;
    node.ids.clear();
    node.step.clear();
    node.own.resize(n);
    node.cross.resize(n);
    node.single.resize(n);
    node.weight = weight_;
    node.mass = 0;
    for (std::size_t e = 0; e < n; ++e) {
        double own = 0;
        double cross = 0;
        double single = 0;
        const auto add = [&](double weight, double total, std::uint32_t local) {
            own += weight;
            cross += weight * total;
            if (local == folded) {
                single += weight;
            } else if (local != copied) {
                node.ids.push_back(local);
            }
        };
        for (const auto label : targets_.labels.row(rows.row[e])) {
            const auto c = static_cast<std::size_t>(label);
            const auto& seen = counts_[c];
            if (seen.local == constant) continue;
            if (is_turned(seen.local)) {
                turned_[seen.local & ~turned_bit].had_by = static_cast<std::uint32_t>(e);
                continue;
            }
            add(targets_.label_weight[c], seen.total, seen.local);
        }
        for (const auto& turned : turned_) {
            if (turned.had_by != e) add(turned.weight, turned.total, turned.local);
        }
        for (auto k = node.step.size(); k < node.ids.size(); ++k) {
            node.step.push_back(node.label_weight[node.ids[k]] * rows.weight[e]);
        }
        while (node.ids.size() % NodeLabels::block != 0) {
            node.ids.push_back(static_cast<std::uint32_t>(node.n_local()));
            node.step.push_back(0.0);
        }
        node.indptr[e + 1] = static_cast<std::uint32_t>(node.ids.size());
        node.own[e] = own;
        node.cross[e] = cross;
        node.single[e] = single;
        node.mass += rows.weight[e] * own;
    }
}

// ---- the Gram matrix of small nodes --------------------------------------------------------

namespace {

/// Rough costs in cycles, fitted on FunCat and Gene Ontology trees. A scan by labels pays for each
/// entry's list and its unpredictable length, a scan by the matrix for a row of n additions.
bool gram_pays(std::size_t n_entries, std::size_t n_ids, double pairs, std::size_t n_scans) {
    constexpr std::size_t largest = 160;
    if (n_entries > largest || n_scans == 0) return false;
    const auto n = static_cast<double>(n_entries);
    const double by_labels = 35 * n + 2.5 * static_cast<double>(n_ids);
    const double by_matrix = n * (8 + 0.75 * n);
    const double build = 3 * pairs + n * n + 6 * static_cast<double>(n_ids);
    return build + static_cast<double>(n_scans) * by_matrix <
           static_cast<double>(n_scans) * by_labels;
}

}  // namespace

void add_gram(const NodeRows& rows, std::size_t n_scans, NodeLabels& node) {
    node.gram.clear();
    const std::size_t n = node.n_entries();
    std::vector<std::uint32_t> n_rows(node.n_local() + 1, 0);
    double pairs = 0;
    for (const auto id : node.ids) pairs += n_rows[id]++;
    // Fillers share one number; they pair with nothing.
    const double fillers = n_rows.back();
    pairs -= fillers * (fillers - 1) / 2;
    if (!gram_pays(n, node.ids.size(), pairs, n_scans)) return;

    node.gram_stride = (n + 3) / 4 * 4;
    node.gram.assign(n * node.gram_stride, 0.0);
    // Entries of a label as a chain through the ids: last_[label] -> earlier_[k] -> ...
    constexpr std::uint32_t end = 0xFFFFFFFFu;
    std::vector<std::uint32_t> last(node.n_local(), end);
    std::vector<std::uint32_t> earlier(node.ids.size());
    std::vector<std::uint32_t> owner(node.ids.size());
    for (std::size_t e = 0; e < n; ++e) {
        double* row = node.gram.data() + e * node.gram_stride;
        for (auto k = node.indptr[e]; k < node.indptr[e + 1]; ++k) {
            const auto id = node.ids[k];
            if (id == node.n_local()) break;
            for (auto other = last[id]; other != end; other = earlier[other]) {
                row[owner[other]] += node.step[k] * rows.weight[owner[other]];
            }
            earlier[k] = last[id];
            owner[k] = static_cast<std::uint32_t>(e);
            last[id] = k;
        }
        row[e] = rows.weight[e] * rows.weight[e] * node.own[e];
        for (std::size_t other = 0; other < e; ++other) {
            node.gram[other * node.gram_stride + e] = row[other];
        }
    }
}

}  // namespace ramify
