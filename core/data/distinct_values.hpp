// The distinct values of a numeric column: four bytes each where single precision holds them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace ramify {

/// Values in decreasing order. They read as doubles, whatever their storage.
class DistinctValues {
  public:
    DistinctValues() = default;
    /// Keeps single precision if no value changes: columns of float32, or of small integers.
    explicit DistinctValues(const std::vector<double>& values) {
        const auto fits = [](double value) {
            return std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()) &&
                   static_cast<double>(static_cast<float>(value)) == value;
        };
        if (std::ranges::all_of(values, fits)) {
            single_.reserve(values.size());
            for (const double value : values) single_.push_back(static_cast<float>(value));
        } else {
            double_ = values;
        }
    }

    double operator[](std::size_t rank) const {
        return double_.empty() ? static_cast<double>(single_[rank]) : double_[rank];
    }
    std::size_t size() const { return double_.empty() ? single_.size() : double_.size(); }
    bool empty() const { return size() == 0; }
    double front() const { return (*this)[0]; }
    double back() const { return (*this)[size() - 1]; }

  private:
    std::vector<float> single_;  // one of the two is empty
    std::vector<double> double_;
};

}  // namespace ramify
