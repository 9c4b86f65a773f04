[Attributes]
Target = 4-6
[Data]
File = train.arff
XVal = 5
[Tree]
Heuristic = GainRatio
[Output]
WritePredictions = [Train,Test]
