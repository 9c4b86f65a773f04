#include "data/target_table.hpp"

#include <algorithm>
#include <cmath>

#include "data/targets.hpp"

namespace ramify {

void TargetPrototype::add_up(const NodeRows& rows) {
    sum_.assign(table_.n_columns(), 0.0);
    known_.assign(table_.n_targets(), 0.0);
    const bool numeric = table_.is_numeric();
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const auto row = table_.row(rows.row[e]);
        const double weight = rows.weight[e];
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (std::isnan(row[i])) continue;
            known_[i] += weight;
            if (numeric) {
                sum_[i] += weight * row[i];
            } else {
                sum_[table_.first(i) + static_cast<std::size_t>(row[i])] += weight;
            }
        }
    }
}

void TargetPrototype::compute(const NodeRows& rows) {
    add_up(rows);
    columns_.clear();
    values_.clear();
    errors_ = 0;
    const auto put = [&](std::size_t column, double value) {
        columns_.push_back(static_cast<std::int32_t>(column));
        values_.push_back(value);
    };
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (known_[i] <= 0) continue;
        if (table_.is_numeric()) {
            put(i, sum_[i] / known_[i] + table_.origin[i]);
            continue;
        }
        double most = 0;
        for (auto c = table_.first(i); c < table_.first(i + 1); ++c) {
            most = std::max(most, sum_[c]);
            if (sum_[c] > 0) put(c, table_.counts ? sum_[c] : sum_[c] / known_[i]);
        }
        errors_ += known_[i] - most;
    }
    errors_ /= static_cast<double>(known_.size());
}

}  // namespace ramify
