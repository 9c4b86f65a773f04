[Data]
File = train.arff
TestSet = test.arff
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
MEstimate = Yes
[Output]
WritePredictions = [Train,Test]
