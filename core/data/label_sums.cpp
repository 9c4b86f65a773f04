#include "data/label_sums.hpp"

#include <bit>

namespace ramify {

LabelSums::LabelSums(const Targets& targets)
    : targets_(targets), totals_(targets.n_labels(), 0.0), in_use_(targets.n_labels() / 64 + 1) {}

std::span<const LabelSum> LabelSums::of(const NodeRows& rows) {
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const double weight = rows.weight[e];
        for (const auto label : targets_.labels.row(rows.row[e])) {
            const auto c = static_cast<std::size_t>(label);
            totals_[c] += weight;
            in_use_[c / 64] |= std::uint64_t{1} << (c % 64);
        }
    }
    sums_.clear();
    for (std::size_t word = 0; word < in_use_.size(); ++word) {
        for (auto bits = in_use_[word]; bits != 0; bits &= bits - 1) {
            const auto c = 64 * word + static_cast<std::size_t>(std::countr_zero(bits));
            sums_.push_back({static_cast<std::int32_t>(c), totals_[c], targets_.label_weight[c]});
            totals_[c] = 0;
        }
        in_use_[word] = 0;
    }
    return sums_;
}

}  // namespace ramify
