// The outputs of rows, and their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

/// The outputs of each row, borrowed: compressed rows.
struct OutputSets {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::size_t n_outputs;
};

/// The outputs of each row as places in an order that has every output once.
class OutputPlaces {
  public:
    OutputPlaces(const OutputSets& outputs, std::span<const std::int32_t> order)
        : indptr_(outputs.indptr.begin(), outputs.indptr.end()),
          places_(outputs.indices.begin(), outputs.indices.end()) {
        std::vector<std::int32_t> place(order.size());
        for (std::size_t k = 0; k < order.size(); ++k) {
            place[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
        }
        for (auto& j : places_) j = place[static_cast<std::size_t>(j)];
    }

    std::span<const std::int32_t> of(std::size_t row) const {
        const auto begin = static_cast<std::size_t>(indptr_[row]);
        return std::span(places_).subspan(begin,
                                          static_cast<std::size_t>(indptr_[row + 1]) - begin);
    }

  private:
    std::vector<std::int64_t> indptr_;
    std::vector<std::int32_t> places_;
};

}  // namespace ramify
