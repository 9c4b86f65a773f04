// Probabilities from the margins of linear models.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

/// Margins of some rows, each of models fitted without the row, and what is true.
struct HeldOutMargins {
    std::span<const float> margins;  // by rows
    std::size_t n_outputs;
    std::span<const double> weights;  // of the rows

    std::size_t n_rows() const { return weights.size(); }
    std::span<const float> row(std::size_t r) const {
        return margins.subspan(r * n_outputs, n_outputs);
    }
};

/// How margins become probabilities: those of classes are proportional to exp(scale · margin +
/// offset), that of a label is 1 / (1 + exp(-scale · margin - offset)).
struct LinearLink {
    double scale = 0;
    double offset = 0;
};

/// Finds the most likely scale, which classes share, and the offset of each class; `truth` is the
/// class of every row.
std::vector<LinearLink> link_classes(const HeldOutMargins& held_out,
                                     std::span<const std::int32_t> truth);

/// Finds the most likely scale and offset of each label, close to those of all labels together
/// where it has few rows; `truth` is 1 where a row has a label, by rows.
std::vector<LinearLink> link_labels(const HeldOutMargins& held_out,
                                    std::span<const std::uint8_t> truth);

}  // namespace ramify
