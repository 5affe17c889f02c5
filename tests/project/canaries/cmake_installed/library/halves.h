#pragma once
#include <vector>
std::vector<float> halve(const std::vector<float>& values);
