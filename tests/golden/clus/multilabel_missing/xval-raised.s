[Attributes]
Target = 5-7
[Data]
File = train.arff
XVal = 5
[Tree]
