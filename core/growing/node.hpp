// Nodes to be grown, and what their searches have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "criteria/node_labels.hpp"
#include "growing/options.hpp"
#include "growing/orders.hpp"
#include "tree/builder.hpp"

namespace ramify {

/// A node to be grown. Labels and orders are filled if it may be split.
struct Pending {
    NodeRows rows;
    double weight = 0;
    bool splittable = false;
    std::unique_ptr<NodeLabels> labels;  // null if the criterion needs none
    KeptOrders orders;
    std::int64_t depth = 0;
    std::uint64_t seed = 0;
    Place place;
    // Features of tests above that divide rows. Below, rows with a missing value differ from
    // others because no such test has selected them: that is no evidence.
    std::vector<std::uint32_t> divided;

    std::size_t size() const { return rows.size(); }
};

/// Reuses the arrays of finished nodes: allocating them takes as long as filling them.
class SpareNodes {
  public:
    /// A node for at most `n_rows` rows, with arbitrary content.
    Pending take(std::size_t n_rows) {
        auto& spare = n_rows > small_node && !large_.empty() ? large_ : small_;
        if (spare.empty()) return {};
        Pending node = std::move(spare.back());
        spare.pop_back();
        return node;
    }
    /// Keeps no more large nodes than one split needs.
    void put_back(Pending&& node) {
        node.orders = {};
        if (node.rows.row.capacity() <= small_node) {
            small_.push_back(std::move(node));
        } else if (large_.size() < 2) {
            large_.push_back(std::move(node));
        }
    }

  private:
    static constexpr std::size_t small_node = 512;  // rows

    std::vector<Pending> small_;
    std::vector<Pending> large_;
};

/// What the searches of one tree have in common.
struct Shared {
    const Dataset& dataset;
    const Targets& targets;
    const GrowOptions& options;
    StopSignal& signal;
    bool keep_orders;
    bool any_nominal;

    /// Number of features searched in a node.
    std::size_t n_tried() const {
        const std::size_t n = dataset.features.size();
        return options.uses_all_features(n) ? n : options.max_features;
    }
    /// Under CLUS's conventions, labels are summed over in their own order.
    bool in_label_order() const { return options.rules.clus && any_nominal; }
    /// Under CLUS's conventions, ties depend on the order in which labels are summed.
    bool may_share_numbers() const { return targets.numbered != nullptr && !options.rules.clus; }
    /// Sets the node's weight, and whether it may be split.
    void weigh(Pending& node) const {
        const NodeRows& rows = node.rows;
        node.weight = 0;
        double n_rows = 0;
        for (std::size_t e = 0; e < rows.size(); ++e) {
            node.weight += rows.weight[e];
            n_rows += rows.part[e];
        }
        node.splittable = options.may_split(node.depth, n_rows, known_weight(node));
    }
    /// In CLUS, a node is split only if it has enough weight of rows with a known target, whereas
    /// the branches of a test need only weight of any rows.
    double known_weight(const Pending& node) const {
        const TargetTable* table = targets.table;
        if (!options.rules.clus || table == nullptr || !table->any_unknown) return node.weight;
        double known = 0;
        for (std::size_t e = 0; e < node.size(); ++e) {
            const auto row = table->row(node.rows.row[e]);
            const bool any =
                std::ranges::any_of(row, [](double value) { return !std::isnan(value); });
            if (any) known += node.rows.weight[e];
        }
        return known;
    }
};

}  // namespace ramify
