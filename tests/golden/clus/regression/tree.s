[Attributes]
Target = 3-4
[Data]
File = train.arff
TestSet = test.arff
[Output]
WritePredictions = [Train,Test]
