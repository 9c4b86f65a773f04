[Attributes]
Target = 4-6
[Data]
File = train.arff
TestSet = test.arff
[Ensemble]
Iterations = 3
EnsembleMethod = RForest
OOBestimate = Yes
