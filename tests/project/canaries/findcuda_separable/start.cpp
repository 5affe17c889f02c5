#include <iostream>
int walk_all();
int main() {
#ifdef RECENT
  std::cout << "steps " << walk_all() << std::endl;
#endif
}
