[Attributes]
Target = 3-4
[Data]
File = train.arff
TestSet = 0.3
PruneSet = test.arff
[Tree]
Heuristic = VarianceReduction
FTest = [0.01,0.5]
