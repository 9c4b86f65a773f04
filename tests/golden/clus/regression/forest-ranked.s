[Attributes]
Target = 3-4
[Data]
File = train.arff
TestSet = test.arff
[Ensemble]
EnsembleMethod = RForest
Iterations = [2,4]
FeatureRankingPerTarget = Yes
FeatureRanking = [Genie3,Symbolic,RForest]
