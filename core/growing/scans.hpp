// The scans of all criteria; a scan finds the impurity on both sides of every candidate test.
#pragma once

#include <type_traits>

#include "criteria/distance.hpp"
#include "criteria/entropy.hpp"
#include "criteria/feature_variance.hpp"
#include "criteria/few_labels.hpp"
#include "criteria/known_variance.hpp"
#include "criteria/target_scan.hpp"
#include "criteria/variance.hpp"
#include "growing/options.hpp"

/// Expands a macro for every scan, to instantiate templates.
#define RAMIFY_EVERY_SCAN(INSTANTIATE)               \
    INSTANTIATE(VarianceScan)                        \
    INSTANTIATE(FewLabelsScan)                       \
    INSTANTIATE(EntropyScan<false>)                  \
    INSTANTIATE(EntropyScan<true>)                   \
    INSTANTIATE(DistanceScan)                        \
    INSTANTIATE(KnownVarianceScan)                   \
    INSTANTIATE(MixedVarianceScan)                   \
    INSTANTIATE(TargetScan<NumericStatistic>)        \
    INSTANTIATE(TargetScan<NominalStatistic<false>>) \
    INSTANTIATE(TargetScan<NominalStatistic<true>>)

namespace ramify {

/// Calls `visit` with the scan of a criterion for labels, as std::type_identity.
template <typename Visit>
auto with_scan(Criterion criterion, const Visit& visit) {
    switch (criterion) {
        case Criterion::variance:
            return visit(std::type_identity<VarianceScan>{});
        case Criterion::entropy:
            return visit(std::type_identity<EntropyScan<false>>{});
        case Criterion::class_entropy:
            return visit(std::type_identity<EntropyScan<true>>{});
        case Criterion::distance:
            break;
    }
    return visit(std::type_identity<DistanceScan>{});
}

}  // namespace ramify
