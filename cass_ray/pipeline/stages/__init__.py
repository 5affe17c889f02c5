"""What a row passes between corpus and data set: a module a stage; ``order`` lists them all."""
