[Attributes]
Target = 5-7
[Data]
File = train.arff
TestSet = test.arff
[Output]
UnknownFrequency = Yes
BranchFrequency = Yes
[Ensemble]
Iterations = 2
PrintAllModels = Yes
