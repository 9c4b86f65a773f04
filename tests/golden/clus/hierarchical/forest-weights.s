[Data]
File = train.arff
TestSet = test.arff
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
HSeparator = /
[Ensemble]
Iterations = [2,4]
FeatureRanking = [Symbolic]
SymbolicWeight = [0.5,0.3]
