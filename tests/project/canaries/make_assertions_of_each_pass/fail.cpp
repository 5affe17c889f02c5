#include "check.h"

#include <stdexcept>
#include <string>

void fail(const char *what) { throw std::runtime_error(std::string(what)); }
