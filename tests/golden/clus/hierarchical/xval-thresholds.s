[Data]
File = train.arff
XVal = 3
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
ClassificationThreshold = [20,50]
