#pragma once
#include <vector>
std::vector<int> collatz(int n);
