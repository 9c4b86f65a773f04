#include "growing/partition.hpp"

#include <algorithm>

namespace ramify {

void Partition::assign(const NodeRows& rows, const Split& split, FeatureOrder order) {
    rows_ = &rows;
    split_ = &split;
    entries_.resize(std::max(entries_.size(), n_branches()));
    const Feature& feature = dataset_.features[static_cast<std::size_t>(split.feature)];
    const std::size_t n = rows.size();
    const std::int32_t missing = split.missing_branch;
    branch_.resize(n);
    if (feature.kind == FeatureKind::nominal) {
        for (std::size_t e = 0; e < n; ++e) {
            const auto code = feature.codes[rows.row[e]];
            branch_[e] =
                code < 0 ? missing : split.category_branch[static_cast<std::size_t>(code)];
        }
        return;
    }
    if (feature.kind == FeatureKind::dense) {
        for (std::size_t e = 0; e < n; ++e) {
            const auto rank = feature.ranks[rows.row[e]];
            branch_[e] = rank == missing_rank ? missing : rank > split.upper_rank;
        }
        return;
    }
    std::ranges::fill(branch_, feature.zero_rank > split.upper_rank);
    for (const auto& item : order.stored) branch_[item.entry] = item.rank > split.upper_rank;
    for (const auto& item : order.missing) branch_[item.entry] = missing;
}

void Partition::take_rows(std::size_t branch, NodeRows& child) {
    const std::size_t n = rows_->size();
    child.clear();
    // One more: a row is written before it is known whether it stays.
    child.resize(n_here(static_cast<std::int32_t>(branch)) + 1);
    if (lists_entries_) {
        above_.resize(n);
        entries_[branch].resize(n);
    }
    const auto number = static_cast<std::int32_t>(branch);
    const auto k = lists_entries_ ? take<true>(number, child) : take<false>(number, child);
    if (lists_entries_) above_.resize(k);
    child.resize(k);
}

/// How many rows take a branch, alone or as one of all.
std::size_t Partition::n_here(std::int32_t branch) const {
    std::uint32_t n = 0;
    for (const auto taken : branch_) n += taken < 0 || taken == branch;
    return n;
}

template <bool lists>
std::uint32_t Partition::take(std::int32_t branch, NodeRows& child) {
    const NodeRows& rows = *rows_;
    const double share = split_->share[static_cast<std::size_t>(branch)];
    auto& entries = entries_[static_cast<std::size_t>(branch)];
    const auto n = static_cast<std::uint32_t>(rows.size());
    std::uint32_t k = 0;
    for (std::uint32_t e = 0; e < n; ++e) {
        // Branch-free: every row is written, and kept if it belongs here.
        const bool in_part = branch_[e] < 0;
        const bool here = in_part || branch_[e] == branch;
        const double part = in_part ? share : 1.0;
        child.row[k] = rows.row[e];
        child.weight[k] = rows.weight[e] * part;
        child.part[k] = rows.part[e] * part;
        if constexpr (lists) {
            above_[k] = e;
            entries[e] = here ? k : KeptOrders::no_entry;
        }
        k += here;
    }
    return k;
}

}  // namespace ramify
