// Marks and ranges for profilers: levels begin at 0 in each thread, a pop too many is an error.
#include <roctracer/roctx.h>

#include <thread>

#include "expect.hpp"

int main() {
  roctxMark("begin");
  EXPECT(roctxRangePush("outer") == 0);
  EXPECT(roctxRangePush("inner") == 1);
  std::thread([] {
    EXPECT(roctxRangePush("of another thread") == 0);
    EXPECT(roctxRangePop() == 0);
  }).join();
  EXPECT(roctxRangePop() == 1);
  EXPECT(roctxRangePop() == 0);
  EXPECT(roctxRangePop() < 0);
  const roctx_range_id_t first = roctxRangeStart("first"), second = roctxRangeStart("second");
  EXPECT(first != second);
  roctxRangeStop(first);
  roctxRangeStop(second);
  return report();
}
