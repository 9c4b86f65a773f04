[Data]
File = train.arff
[Constraints]
MaxDepth = 2
[Hierarchical]
Type = Tree
HSeparator = /
ClassificationThreshold = [30]
[Ensemble]
Iterations = 4
