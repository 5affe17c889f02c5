// Exclusive prefix sum of one block per group (work-efficient, two sweeps).
#define BLOCK 512

__kernel __attribute__((reqd_work_group_size(BLOCK / 2, 1, 1))) void
exclusive_scan(__global const uint *input, __global uint *output, __global uint *totals) {
  __local uint tree[BLOCK];
  const uint id = get_local_id(0);
  const uint base = get_group_id(0) * BLOCK;
  tree[2 * id] = input[base + 2 * id];
  tree[2 * id + 1] = input[base + 2 * id + 1];
  uint offset = 1;
  for (uint nodes = BLOCK / 2; nodes > 0; nodes >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < nodes) {
      tree[offset * (2 * id + 2) - 1] += tree[offset * (2 * id + 1) - 1];
    }
    offset *= 2;
  }
  if (id == 0) {
    totals[get_group_id(0)] = tree[BLOCK - 1];
    tree[BLOCK - 1] = 0;
  }
  for (uint nodes = 1; nodes < BLOCK; nodes *= 2) {
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < nodes) {
      const uint left = offset * (2 * id + 1) - 1;
      const uint right = offset * (2 * id + 2) - 1;
      const uint moved = tree[left];
      tree[left] = tree[right];
      tree[right] += moved;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  output[base + 2 * id] = tree[2 * id];
  output[base + 2 * id + 1] = tree[2 * id + 1];
}
