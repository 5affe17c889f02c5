#include <iostream>
#include <memory>
#include <thread>
#include <vector>
#include "table.h"
int main() {
  std::unique_ptr<int, void (*)(int *)> table(table_new(11), table_free);
  std::vector<int> sums(2);
  std::thread other([&] { sums[1] = sum_on_device(table.get(), 5); });
  other.join();
  sums[0] = sum_on_device(table.get(), 11);
  std::cout << sums[0] << " " << sums[1] << std::endl;
}
