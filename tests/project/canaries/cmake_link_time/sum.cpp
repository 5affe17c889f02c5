#include <numeric>
#include <vector>
long sum(const std::vector<long>& values) { return std::accumulate(values.begin(), values.end(), 0L); }
