#include "data/label_sets.hpp"

#include "data/targets.hpp"

namespace ramify {

void NodeSetsBuilder::build(const NodeRows& rows, NodeSets& node) {
    node.of_entry.resize(rows.size());
    node.set.clear();
    node.first_entry.clear();
    node.total.clear();
    for (std::uint32_t e = 0; e < rows.size(); ++e) {
        const auto set = sets_.of_row[rows.row[e]];
        auto& number = local_[set];
        if (number == unseen) {
            number = static_cast<std::uint32_t>(node.set.size());
            node.set.push_back(set);
            node.first_entry.push_back(e);
            node.total.push_back(0);
        }
        node.of_entry[e] = number;
        node.total[number] += rows.weight[e];
    }
    for (const auto set : node.set) local_[set] = unseen;
}

}  // namespace ramify
