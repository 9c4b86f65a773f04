[Attributes]
Target = 3-4
[Data]
File = train.arff
XVal = 5
[Tree]
