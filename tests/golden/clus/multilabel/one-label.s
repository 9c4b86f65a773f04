[Attributes]
Target = 4
Disable = 5-6
[Data]
File = train.arff
TestSet = test.arff
