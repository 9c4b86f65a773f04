"""Run the settings files of CLUS: read them, run them and write the files that CLUS writes."""
