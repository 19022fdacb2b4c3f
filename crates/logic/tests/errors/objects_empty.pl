% nothing here
