[Attributes]
Target = 3-4
[Data]
File = train.arff
TestSet = test.arff
[Model]
MinimalWeight = 8
[Output]
WritePredictions = [Train,Test]
