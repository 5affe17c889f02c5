#include <iostream>
int walk_all();
int main() {
#ifdef RECENT
  const int steps = walk_all();
  std::cout << "steps " << steps << std::endl;
#endif
}
