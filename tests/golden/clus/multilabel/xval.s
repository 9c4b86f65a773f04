[Attributes]
Target = 4-6
[Data]
File = train.arff
XVal = 3
