[Data]
File = train.arff
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
[Attributes]
Descriptive = 1-3
Clustering = 1-4
Target = 4
[SemiSupervised]
SemiSupervisedMethod = PCT
PossibleWeights = [0.9]
