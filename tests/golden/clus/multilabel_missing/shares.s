[Attributes]
Target = 5-7
[Data]
File = train.arff
TestSet = test.arff
[Output]
UnknownFrequency = Yes
BranchFrequency = Yes
