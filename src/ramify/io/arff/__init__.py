"""Files in the ARFF format of Weka, CLUS and Mulan."""
