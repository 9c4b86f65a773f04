#include "hierarchy/surplus_flow.hpp"

#include <algorithm>
#include <limits>

namespace ramify {

namespace {

constexpr std::int32_t none = -1;

}  // namespace

SurplusFlow::SurplusFlow(SparseRowsView parents)
    : parents_(parents), position_(parents.n_rows(), none) {}

double SurplusFlow::carry_up(std::span<const std::int32_t> block,
                             std::span<const double> surplus) {
    surplus_.assign(surplus.begin(), surplus.end());
    build_arcs(block);
    while (rank_labels()) {
        for (std::int32_t label = 0; label < static_cast<std::int32_t>(block.size()); ++label) {
            while (surplus_[label] > 0.0 && find_path(label)) fill_path();
        }
    }
    double left = 0.0;
    for (const double value : surplus_) left += std::max(0.0, value);
    return left;
}

void SurplusFlow::build_arcs(std::span<const std::int32_t> block) {
    arcs_.clear();
    first_arc_.assign(block.size(), none);
    rank_.resize(block.size());
    for (std::size_t k = 0; k < block.size(); ++k)
        position_[block[k]] = static_cast<std::int32_t>(k);
    for (const std::int32_t label : block) {
        for (const std::int32_t parent : parents_.row(label)) {
            if (position_[parent] == none) continue;
            add_arc(position_[label], position_[parent], std::numeric_limits<double>::infinity());
            add_arc(position_[parent], position_[label], 0.0);
        }
    }
    for (const std::int32_t label : block) position_[label] = none;
}

void SurplusFlow::add_arc(std::int32_t from, std::int32_t to, double capacity) {
    arcs_.push_back({to, first_arc_[from], capacity});
    first_arc_[from] = static_cast<std::int32_t>(arcs_.size()) - 1;
}

/// Ranks labels by their distance from a surplus along arcs with free capacity; returns whether a
/// deficit is reached.
bool SurplusFlow::rank_labels() {
    open_arc_ = first_arc_;
    queue_.clear();
    for (std::size_t label = 0; label < surplus_.size(); ++label) {
        rank_[label] = surplus_[label] > 0.0 ? 0 : none;
        if (rank_[label] == 0) queue_.push_back(static_cast<std::int32_t>(label));
    }
    bool reached = false;
    for (std::size_t k = 0; k < queue_.size(); ++k) {
        const std::int32_t label = queue_[k];
        reached = reached || surplus_[label] < 0.0;
        for (std::int32_t arc = first_arc_[label]; arc != none; arc = arcs_[arc].next) {
            const auto& [head, next, capacity] = arcs_[arc];
            if (!(capacity > 0.0) || rank_[head] != none) continue;
            rank_[head] = rank_[label] + 1;
            queue_.push_back(head);
        }
    }
    return reached;
}

/// Finds a path to a label with a deficit along arcs with free capacity that each go up one rank.
bool SurplusFlow::find_path(std::int32_t from) {
    path_.clear();
    std::int32_t label = from;
    while (surplus_[label] >= 0.0) {
        if (advance(label)) {
            path_.push_back(open_arc_[label]);
        } else if (path_.empty()) {
            return false;
        } else {
            const std::int32_t before = arcs_[path_.back() ^ 1].head;
            path_.pop_back();
            open_arc_[before] = arcs_[open_arc_[before]].next;
        }
        label = path_.empty() ? from : arcs_[path_.back()].head;
    }
    return true;
}

/// Advances the open arc of a label to the next one with free capacity that goes up one rank;
/// returns whether there is one.
bool SurplusFlow::advance(std::int32_t label) {
    for (std::int32_t& arc = open_arc_[label]; arc != none; arc = arcs_[arc].next) {
        if (arcs_[arc].capacity > 0.0 && rank_[arcs_[arc].head] == rank_[label] + 1) return true;
    }
    return false;
}

void SurplusFlow::fill_path() {
    const std::int32_t from = arcs_[path_.front() ^ 1].head;
    const std::int32_t to = arcs_[path_.back()].head;
    double amount = std::min(surplus_[from], -surplus_[to]);
    for (const std::int32_t arc : path_) amount = std::min(amount, arcs_[arc].capacity);
    surplus_[from] -= amount;
    surplus_[to] += amount;
    for (const std::int32_t arc : path_) {
        arcs_[arc].capacity -= amount;
        arcs_[arc ^ 1].capacity += amount;
    }
}

}  // namespace ramify
