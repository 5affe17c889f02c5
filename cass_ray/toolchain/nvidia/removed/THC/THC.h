#pragma once
#include <cass_removed_torch.h>
