// Grows the structure of one tree from the sketched gradients of its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "gradient_boosting/binning.hpp"
#include "gradient_boosting/histograms.hpp"
#include "gradient_boosting/options.hpp"
#include "gradient_boosting/splitting.hpp"

namespace ramify {

/// A node of a grown tree: its test, and the range of its rows.
struct GrownNode {
    BinSplit split;
    std::int32_t yes = -1;  // children; -1: a leaf
    std::int32_t no = -1;
    std::size_t begin = 0;
    std::size_t end = 0;
    double weight = 0;

    bool is_leaf() const { return yes < 0; }
};

struct GrownTree {
    std::vector<GrownNode> nodes;     // node 0 is the root; children come after their parents
    std::vector<std::uint32_t> rows;  // the rows of each leaf, increasing within a leaf
};

class TreeGrower {
  public:
    TreeGrower(const BinnedData& data, const GradientBoostingOptions& options, std::size_t width);
    ~TreeGrower();

    /// Grows a tree. `features`: the features it may test, increasing. `rows`: increasing.
    GrownTree grow(std::span<const std::int32_t> features, std::vector<std::uint32_t> rows,
                   const float* sketch, const float* weight, StopSignal& signal);

  private:
    struct OpenNode;
    struct Family;
    struct Task;
    struct NodePart;
    class Search;

    void choose_features(std::span<const std::int32_t> features);
    std::unique_ptr<Histograms> take_histograms();
    bool can_split(const OpenNode& node) const;
    unsigned threads_for(std::size_t n_rows) const;
    void find_totals(std::vector<Family>& families, StopSignal& signal) const;
    void evaluate(std::vector<Family>& families, StopSignal& signal);
    void run(const Task& task, unsigned thread, Family& family);
    void search_dense(std::size_t i, Family& family, Search& search, BinSplit* found);
    void sort_part(NodePart& part);
    std::vector<std::size_t> divide_rows(std::span<const OpenNode> nodes, StopSignal& signal);
    std::vector<Family> divide(std::vector<OpenNode> nodes, StopSignal& signal);
    Family make_family(OpenNode parent, std::size_t middle);
    SketchedRows rows_of(const OpenNode& node) const;

    const BinnedData& data_;
    const GradientBoostingOptions& options_;
    std::size_t width_;
    std::vector<std::int32_t> dense_;                 // dense features of this tree
    std::vector<std::size_t> first_bin_;              // of each, in Histograms
    std::vector<std::vector<std::uint32_t>> places_;  // per group: sparse features of this tree
    std::vector<std::unique_ptr<Histograms>> free_;   // to be used again
    std::size_t bytes_in_use_ = 0;
    GrownTree tree_;
    std::vector<std::uint32_t> buffer_;  // rows on their way to the children of their node
    const float* sketch_ = nullptr;
    const float* weight_ = nullptr;
    std::vector<std::unique_ptr<Search>> searches_;  // per thread
};

}  // namespace ramify
