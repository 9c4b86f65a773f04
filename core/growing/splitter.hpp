// The search for the best test of a node, whatever the criterion.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "common/random.hpp"
#include "criteria/node_labels.hpp"
#include "data/label_sums.hpp"
#include "data/targets.hpp"
#include "growing/options.hpp"
#include "growing/orders.hpp"
#include "growing/scoring.hpp"
#include "growing/split.hpp"

namespace ramify {

/// Searches the features of one node after the other. One per thread.
class Splitter {
  public:
    /// What a criterion needs to know about a node; the members are those of a Scan.
    struct Needs {
        Compression compression;
        bool kernel;
        bool labels;
        double (*impurity_of)(std::span<const LabelSum> sums, double weight);  // null: by a scan
    };

    Splitter(const Needs& needs, const SplitRules& rules) : scoring_(rules), needs_(needs) {}
    Splitter(const Splitter&) = delete;
    Splitter& operator=(const Splitter&) = delete;
    virtual ~Splitter() = default;

    virtual void reset(const NodeRows& rows, const NodeLabels& labels) = 0;
    /// Replaces `best` by the best test of the feature if that one is better.
    virtual void search_numeric(std::uint32_t feature, const FeatureOrder& order, SplitMix& random,
                                Split& best) = 0;
    virtual void search_nominal(std::uint32_t feature, const FeatureOrder& order, SplitMix& random,
                                Split& best) = 0;

    const Needs& needs() const { return needs_; }
    const Scoring& scoring() const { return scoring_; }
    double node_impurity() const { return node_impurity_; }
    /// Features without a score above this may be skipped.
    void set_beat(double score) { beat_ = score; }
    /// Whether rows with a missing value of the next feature may differ from others by nature.
    void set_may_learn(bool may) { may_learn_ = may; }

  protected:
    Scoring scoring_;
    double node_impurity_ = 0;
    double beat_ = rejected;
    bool may_learn_ = true;

  private:
    Needs needs_;
};

/// The splitter of an engine for the criterion, or for the table of targets.
std::unique_ptr<Splitter> make_splitter(const Dataset& dataset, const Targets& targets,
                                        const GrowOptions& options);

}  // namespace ramify
