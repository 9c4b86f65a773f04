"""Write the files that CLUS writes."""
