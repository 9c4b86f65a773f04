"""The options of the sections that belong to methods of CLUS other than trees and ensembles.

A section is listed with its options and their defaults, in the order of CLUS. The default
determines the kind of the values.
"""

from __future__ import annotations

from typing import NamedTuple

from ramify.apps.clus.option import Kind, Option, Status


class _Section(NamedTuple):
    status: Status
    meaning: str
    reason: str
    defaults: str


_SECTIONS = {
    "Rules": _Section(
        "without effect",
        "Rule learning",
        "CLUS only uses this section with -rules",
        """
        CoveringMethod = Standard
        PredictionMethod = DecisionList
        RuleAddingMethod = Always
        CoveringWeight = 0.1
        InstCoveringWeightThreshold = 0.1
        MaxRulesNb = 1000
        HeurDispOffset = 0.0
        HeurCoveragePar = 1.0
        HeurRuleDistPar = 0.0
        HeurPrototypeDistPar = 0.0
        InitialRuleGeneratingMethod = Random forest
        RuleSignificanceLevel = 0.05
        RuleNbSigAtts = 0
        ComputeDispersion = No
        VarBasedDispNormWeight = 4.0
        DispersionWeights =
        TargetWeight = 1.0
        NonTargetWeight = 1.0
        NumericWeight = 1.0
        NominalWeight = 1.0
        RandomRules = 0
        PrintRuleWiseErrors = No
        PrintAllRules = Yes
        ConstrainedToFirstAttVal = No
        OptDEPopSize = 500
        OptDENumEval = 10000
        OptDECrossProb = 0.3
        OptDEWeight = 0.5
        OptDESeed = 0
        OptDERegulPower = 1.0
        OptDEProbMutationZero = 0.0
        OptDEProbMutationNonZero = 0.0
        OptRegPar = 0.0
        OptNbZeroesPar = 0.0
        OptRuleWeightThreshold = 0.1
        OptRuleWeightBinarization = No
        OptDELossFunction = Squared
        OptDefaultShiftPred = Yes
        OptAddLinearTerms = No
        OptNormalizeLinearTerms = Yes
        OptLinearTermsTruncate = Yes
        OptOmitRulePredictions = Yes
        OptWeightGenerality = No
        OptNormalization = Yes
        OptHuberAlpha = 0.9
        OptGDMaxIter = 1000
        OptGDGradTreshold = 1.0
        OptGDStepSize = 0.1
        OptGDIsDynStepsize = Yes
        OptGDMaxNbWeights = 0
        OptGDEarlyStopAmount = 0.0
        OptGDEarlyStopTreshold = 1.1
        OptGDNbOfStepSizeReduce = Infinity
        OptGDExternalMethod = Update
        OptGDMTGradientCombine = Avg
        OptGDNbOfTParameterTry = 1
        OptGDEarlyTTryStop = Yes
        ROSAddRulesWithTotalAveraging = Yes
        ROSParameterAutoTune = No
        MaxRuleCardinality = 30
        MaxPoissonIterations = 1000
        NumberOfSampledRuleSets = 100
        ValidationSetPercentage = 0.33
        """,
    ),
    "HMTR": _Section(
        "unsupported",
        "Hierarchical multi-target regression",
        "hierarchies of numeric targets are not supported",
        """
        Type = Disabled
        Distance = WeightedEuclidean
        Aggregation = SUM
        Hierarchy =
        Weight = 0.75
        """,
    ),
    "OptionTree": _Section(
        "without effect",
        "Option trees",
        "CLUS only uses this section with -options",
        """
        DecayFactor = 0.9
        Epsilon = 0.1
        MaxNumberOfOptionsPerNode = 5
        MaxDepthOfOptionNode = 3
        """,
    ),
    "Beam": _Section(
        "without effect",
        "Beam search for trees",
        "CLUS only uses this section with -beam",
        """
        SizePenalty = 0.1
        BeamWidth = 10
        BeamBestN = 5
        MaxSize = Infinity
        AttributeHeuristic = Default
        FastSearch = Yes
        PostPrune = No
        RemoveEqualHeur = No
        BeamSimilarity = 0.0
        BeamSortOnTrainParameteres = No
        DistSyntacticConstr = None
        BeamToForest = No
        """,
    ),
    "Exhaustive": _Section(
        "without effect",
        "Exhaustive search for trees",
        "CLUS only uses this section with -exhaustive",
        """
        Exhaustive = Yes
        StartTreeCpt = 0
        StartItemCpt = 0
        """,
    ),
    "TimeSeries": _Section(
        "unsupported",
        "Targets that are time series",
        "time series are not supported",
        """
        DistanceMeasure = DTW
        PrototypeComplexity = N2
        """,
    ),
    "Phylogeny": _Section(
        "without effect",
        "Phylogenetic trees",
        "only Heuristic = GeneticDistance uses this section",
        """
        DistanceMeasure = PDist
        OptimizationCriterion = MinTotBranchLength
        Sequence = DNA
        DistanceMatrix = dist
        EntropyVsRootStopCriterion = 0.0
        SumPWDistancesVsRootStopCriterion = 0.0
        EntropyVsParentStopCriterion = 0.0
        SumPWDistancesVsParentStopCriterion = 0.0
        """,
    ),
    "ILevelC": _Section(
        "unsupported",
        "Clustering with constraints between rows",
        "constraints between rows are not supported",
        """
        Alpha = 0.0
        File = None
        NbRandomConstraints = 0
        RunCOPKMeans = No
        RunMPCKMeans = No
        """,
    ),
    "Relief": _Section(
        "without effect",
        "Feature ranking with Relief",
        "CLUS only uses this section with -relief",
        """
        Neighbours = 10
        Iterations = -1.0
        WeightNeighbours = No
        WeightingSigma = 0.5
        ChosenInstances = [-1]
        MultilabelDistance = HammingLoss
        ReliefStatisticsType = DistanceClassic
        UseIndicesInRankingNames = No
        MissingTargetHandling = Impute
        """,
    ),
    "kNN": _Section(
        "without effect",
        "Nearest neighbors",
        "CLUS only uses this section with -knn",
        """
        K = [1,3]
        Distance = Euclidean
        SearchMethod = BruteForce
        DistanceWeighting = [Constant]
        AttributeWeighting = none
        ChosenInstancesTrain = [-1]
        ChosenInstancesTest = [-1]
        LoadNeighboursFiles = {}
        SaveNeighboursFile =
        IsMlcKnn = No
        MlcCountSmoother = 1.0
        """,
    ),
    "kNNTree": _Section(
        "without effect",
        "Nearest neighbors in the leaves of a tree",
        "CLUS only uses this section with -knnTree",
        """
        k = 3
        VectorDistance = Euclidian
        DistanceWeighted = No
        Normalizing = Yes
        AttributeWeighted = No
        """,
    ),
    "SIT": _Section(
        "without effect",
        "Selection of the targets that help to predict another",
        "CLUS only uses this section with -sit",
        """
        Main_target = Default
        Recursive = No
        Search = OneTarget
        Learner = ClusLearner
        Error = MSE
        """,
    ),
    "SemiSupervised": _Section(
        "without effect",
        "Learning from unlabeled rows",
        "CLUS only uses this section with -ssl",
        """
        SemiSupervisedMethod = PCT
        StoppingCriteria = NoneAdded
        UnlabeledCriteria = Threshold
        ConfidenceThreshold = 0.8
        ConfidenceMeasure = Variance
        Iterations = 10
        K = 5
        UnlabeledData =
        PercentageLabeled = 5
        UseWeights = No
        AirbagTrials = 0
        ExhaustiveSearchThresholds = [0.5,0.6,0.7,0.8,0.9,0.99]
        OOBErrorCalculation = LabeledOnly
        Normalization = MinMaxNormalization
        Aggregation = Average
        CalibrateHmcThreshold = No
        PruningWhenTuning = No
        InternalFolds = 5
        WeightScoresFile = NO
        PossibleWeights = [0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0]
        IterationsSupervisionOptimisation = 0
        ForceInternalXValOptimisation = No
        ImputeMissingTargetValues = No
        InternalFold = -1
        ProceedToMain = Yes
        """,
    ),
    "Experimental": _Section(
        "without effect",
        "Experiments of the authors of CLUS",
        "no part of a run uses this section",
        """
        NumberBags = 25
        XValForest = No
        """,
    ),
}


def _kind(default: str) -> Kind:
    if default in {"Yes", "No"}:
        return "yes_no"
    if default.lstrip("-").isdecimal():
        return "integer"
    if default.lstrip("-").replace(".", "", 1).isdecimal():
        return "number"
    return "text"


def _options() -> list[Option]:
    found = []
    for name, section in _SECTIONS.items():
        for line in section.defaults.strip().splitlines():
            option, _, value = line.partition("=")
            default = value.strip()
            found.append(
                Option(
                    name,
                    option.strip(),
                    _kind(default),
                    default,
                    section.status,
                    section.meaning,
                    section.reason,
                )
            )
    return found


OTHER_OPTIONS = tuple(_options())
