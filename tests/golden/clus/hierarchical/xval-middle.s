[Data]
File = train.arff
XVal = 3
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
RecallValues = [0.25,0.5]
[Tree]
SplitPosition = Middle
FTest = [0.05,0.5]
