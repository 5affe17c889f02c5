#include <iostream>
#include <thread>
int walk_all();
int main() {
  int steps = 0;
  std::thread worker([&steps] { steps = walk_all(); });
  worker.join();
  std::cout << "steps " << steps << std::endl;
}
