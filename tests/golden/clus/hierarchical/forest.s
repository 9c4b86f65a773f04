[Data]
File = train.arff
TestSet = test.arff
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
[Ensemble]
Iterations = [2,5]
EnsembleMethod = RForest
OOBestimate = Yes
FeatureRanking = [Symbolic]
[Output]
WritePredictions = [Train,Test]
