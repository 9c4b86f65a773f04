[Data]
File = train.arff
TestSet = test.arff
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
MEstimate = Yes
[Ensemble]
Iterations = 3
PrintAllModels = Yes
OOBestimate = Yes
EnsembleMethod = Bagging
[Output]
WritePredictions = [Train,Test]
