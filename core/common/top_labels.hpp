// The k labels with the largest scores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

/// Chooses the k candidates with the largest scores, the largest first; of equal ones, those that
/// come first in the order of the labels. Scores of 0 need not be listed.
class TopLabels {
  public:
    /// `candidates` increase and are at least k.
    TopLabels(std::span<const std::int32_t> candidates, std::size_t n_labels, std::size_t k)
        : candidates_(candidates), is_candidate_(n_labels, 0), k_(k) {
        for (const std::int32_t label : candidates) {
            is_candidate_[static_cast<std::size_t>(label)] = 1;
        }
    }

    /// `scores` has one entry per label; `listed` contains, once each, at least the candidates
    /// whose score is not 0. Writes k labels and their scores.
    void choose(std::span<const double> scores, std::span<const std::int32_t> listed,
                std::int32_t* label, double* score) {
        positive_.clear();
        negative_.clear();
        for (const std::int32_t l : listed) {
            if (!is_candidate_[static_cast<std::size_t>(l)]) continue;
            const double value = scores[static_cast<std::size_t>(l)];
            if (value > 0.0) positive_.push_back(l);
            if (value < 0.0) negative_.push_back(l);
        }
        std::size_t n = take(scores, positive_, 0, label);
        for (auto c = candidates_.begin(); n < k_ && c != candidates_.end(); ++c) {
            const double value = scores[static_cast<std::size_t>(*c)];
            if (!(value > 0.0 || value < 0.0)) label[n++] = *c;  // 0; NaN counts as 0
        }
        take(scores, negative_, n, label);
        for (std::size_t j = 0; j < k_; ++j) score[j] = scores[static_cast<std::size_t>(label[j])];
    }

  private:
    /// Writes the best labels of a list from position n on; returns how many are written then.
    std::size_t take(std::span<const double> scores, std::vector<std::int32_t>& labels,
                     std::size_t n, std::int32_t* out) const {
        const auto is_better = [&](std::int32_t a, std::int32_t b) {
            const double x = scores[static_cast<std::size_t>(a)];
            const double y = scores[static_cast<std::size_t>(b)];
            return x != y ? x > y : a < b;
        };
        const std::size_t taken = std::min(labels.size(), k_ - n);
        const auto end = labels.begin() + static_cast<std::ptrdiff_t>(taken);
        if (taken < labels.size()) std::nth_element(labels.begin(), end, labels.end(), is_better);
        std::sort(labels.begin(), end, is_better);
        std::copy(labels.begin(), end, out + n);
        return n + taken;
    }

    std::span<const std::int32_t> candidates_;
    std::vector<char> is_candidate_;
    std::size_t k_;
    std::vector<std::int32_t> positive_;
    std::vector<std::int32_t> negative_;
};

}  // namespace ramify
