[Data]
File = train.arff
TestSet = test.arff
[Tree]
FTest = [0.01,0.1,0.5]
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
