"""What a run leaves behind as proof: launches, counters, and ways to fake them."""
