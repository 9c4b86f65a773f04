[Attributes]
Target = 5-7
[Data]
File = train.arff
TestSet = test.arff
[Tree]
Heuristic = GainRatio
PruningMethod = None
[Output]
WritePredictions = [Train,Test]
