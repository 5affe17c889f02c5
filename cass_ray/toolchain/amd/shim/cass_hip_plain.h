// cass_hip.h for ports whose vector types are CUDA's: their text begins with cass_vectors.h.
#pragma once

#include "cass_vectors.h"

#include "cass_hip.h"
