[Attributes]
Target = 3-4
[Data]
File = train.arff
TestSet = test.arff
[Ensemble]
Iterations = 3
PrintAllModels = Yes
OOBestimate = Yes
EnsembleMethod = Bagging
FeatureRankingPerTarget = Yes
[Output]
TrainErrors = No
