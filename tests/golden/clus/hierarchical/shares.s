[Data]
File = train.arff
TestSet = test.arff
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
ClassificationThreshold = [40]
[Output]
UnknownFrequency = Yes
BranchFrequency = Yes
