[Data]
File = train.arff
TestSet = test.arff
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
[Tree]
FTest = [0.001,0.1]
[Ensemble]
EnsembleMethod = RForest
Iterations = [2,4]
FeatureRankingPerTarget = Yes
FeatureRanking = [Genie3,Symbolic,RForest]
