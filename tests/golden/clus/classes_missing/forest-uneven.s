[Attributes]
Target = 5-6
[Data]
File = train.arff
TestSet = test.arff
[Ensemble]
Iterations = 4
FeatureRanking = [Genie3]
PrintAllModels = Yes
[Output]
WritePredictions = [Train,Test]
