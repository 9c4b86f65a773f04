[Attributes]
Target = 4-6
[Data]
File = train.arff
TestSet = test.arff
[Model]
MinimalWeight = 8
[Output]
WritePredictions = [Train,Test]
[Ensemble]
Iterations = 3
EnsembleMethod = RForest
