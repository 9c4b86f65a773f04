[Attributes]
Target = 4-6
[Data]
File = test.arff
XVal = LOO
[Tree]
PruningMethod = None
