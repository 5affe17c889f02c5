#pragma once
#include <vector>
std::vector<unsigned> ways(int n);
