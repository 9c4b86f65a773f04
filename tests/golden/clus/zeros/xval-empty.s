[Data]
File = test.arff
XVal = 43
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
