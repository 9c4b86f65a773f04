[Data]
File = train.arff
TestSet = test.arff
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
[Ensemble]
Iterations = 3
PrintAllModels = Yes
OOBestimate = Yes
EnsembleMethod = Bagging
