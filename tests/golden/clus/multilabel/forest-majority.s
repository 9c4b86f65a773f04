[Attributes]
Target = 4-6
[Data]
File = train.arff
TestSet = test.arff
[Output]
WritePredictions = [Train,Test]
[Ensemble]
Iterations = 3
VotingType = Majority
OOBestimate = Yes
