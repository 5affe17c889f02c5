// `shfl` without a mask in inline PTX, which ptxas takes for cards before Volta alone. It stands in
// strings, where no header reaches it: the instructions of a unit with this header in front of it
// get the mask of the threads that are active (removed_names.py), as cass_removed_warp.h gives it.
#pragma once
