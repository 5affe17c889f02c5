// Entries per row of a matrix in coordinate form, counted in local memory first.
#define BINS 1024

__kernel void coo_row_counts(__global const uint *rows, __global volatile uint *counts,
                             const uint entries, const uint first_row) {
  __local volatile uint local_counts[BINS];
  for (uint i = get_local_id(0); i < BINS; i += get_local_size(0)) {
    local_counts[i] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < entries; i += get_global_size(0)) {
    const uint row = rows[i] - first_row;
    if (row < BINS) {
      atomic_inc(&local_counts[row]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < BINS; i += get_local_size(0)) {
    if (local_counts[i] != 0) {
      atomic_add(&counts[i], local_counts[i]);
    }
  }
}
