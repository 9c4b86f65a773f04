[Data]
File = train.arff
TestSet = 0.25
PruneSet = 0.2
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
[Output]
WritePredictions = [Train,Test]
