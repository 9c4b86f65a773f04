[Attributes]
Target = 5-7
[Data]
File = train.arff
TestSet = test.arff
[Tree]
Heuristic = Gain
[Output]
WritePredictions = [Train,Test]
