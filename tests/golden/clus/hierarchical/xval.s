[Data]
File = train.arff
XVal = 4
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
[Output]
WritePredictions = [Train,Test]
