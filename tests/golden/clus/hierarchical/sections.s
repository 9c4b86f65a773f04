[Data]
File = train.arff
TestSet = test.arff
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
[Rules]
[Exhaustive]
[Multilabel]
[Ensemble]
BagSize = 9
