// One row of the dynamic programme of the 0/1 knapsack problem.
__kernel void knapsack_row(__global const int *previous, __global int *current,
                           __global uchar *taken, const int weight, const int value,
                           const int capacity) {
  const int room = get_global_id(0);
  if (room > capacity) {
    return;
  }
  int best = previous[room];
  uchar take = 0;
  if (room >= weight) {
    const int with_item = previous[room - weight] + value;
    if (with_item > best) {
      best = with_item;
      take = 1;
    }
  }
  current[room] = best;
  taken[room] = take;
}
