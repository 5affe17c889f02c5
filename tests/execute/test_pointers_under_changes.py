"""Programs that keep pointers in memory that is changed go on running, and are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.execute.grades import Grade
from cass_ray.execute.verification import PortVerification
from cass_ray.public.verifying import Comparison, compare_programs

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

_HEAD = """
#include <cstdio>
#include <cstring>
#include <cstdlib>
const int N = 64;
"""

LISTS_IN_MANAGED_MEMORY = (
    _HEAD
    + """
struct Node { Node* next; int key; int sum; };
__global__ void reverse(Node** heads, int lists) {
  int l = threadIdx.x;
  if (l >= lists) return;
  Node *before = nullptr, *n = heads[l];
  int sum = 0;
  while (n) {
    Node* after = n->next;
    n->next = before;
    sum += n->key;
    n->sum = sum;
    before = n;
    n = after;
  }
  heads[l] = before;
}
int main() {
  Node *pool, **heads;
  cudaMallocManaged(&pool, N * sizeof(Node));
  cudaMallocManaged(&heads, 8 * sizeof(Node*));
  for (int l = 0; l < 8; ++l) heads[l] = nullptr;
  for (int i = 0; i < N; ++i) pool[i] = {heads[i % 8], i * 3 + 1, 0}, heads[i % 8] = &pool[i];
  reverse<<<1, 32>>>(heads, 8);
  cudaDeviceSynchronize();
  for (int l = 0; l < 8; ++l)
    for (Node* n = heads[l]; n; n = n->next) printf("%d %d ", n->key, n->sum);
  puts("");
}
"""
)

ROWS_BY_ADDRESS = (
    _HEAD
    + """
__global__ void sums(const int* const* rows, int* out) {
  int s = 0;
  for (int i = 0; i < N; ++i) s += rows[threadIdx.x][i];
  out[threadIdx.x] = s;
}
int main() {
  int *rows[16], **device, *out, host[N];
  for (int r = 0; r < 16; ++r) {
    for (int i = 0; i < N; ++i) host[i] = r * 100 + i;
    cudaMalloc(&rows[r], sizeof host);
    cudaMemcpy(rows[r], host, sizeof host, cudaMemcpyHostToDevice);
  }
  cudaMalloc(&device, sizeof rows);
  cudaMalloc(&out, 16 * 4);
  cudaMemcpy(device, rows, sizeof rows, cudaMemcpyHostToDevice);
  sums<<<1, 16>>>(device, out);
  cudaMemcpy(host, out, 16 * 4, cudaMemcpyDeviceToHost);
  for (int r = 0; r < 16; ++r) printf("%d ", host[r]);
  puts("");
}
"""
)

STRUCTS_THERE_AND_BACK = (
    _HEAD
    + """
struct Item { const char* name; int* values; int count; int sum; };
__global__ void total(Item* items) {
  Item item = items[threadIdx.x];
  item.sum = 0;
  for (int i = 0; i < item.count; ++i) item.sum += item.values[i];
  items[threadIdx.x] = item;
}
int main() {
  Item items[16], *device;
  int host[N];
  for (int r = 0; r < 16; ++r) {
    for (int i = 0; i < N; ++i) host[i] = r * 10 + i + 1;
    char* name = (char*)malloc(16);
    snprintf(name, 16, "item %d", r);
    items[r] = {name, nullptr, N / 2 + r, 0};
    cudaMalloc(&items[r].values, sizeof host);
    cudaMemcpy(items[r].values, host, sizeof host, cudaMemcpyHostToDevice);
  }
  cudaMalloc(&device, sizeof items);
  cudaMemcpy(device, items, sizeof items, cudaMemcpyHostToDevice);
  total<<<1, 16>>>(device);
  memset(items, 0, sizeof items);
  cudaMemcpy(items, device, sizeof items, cudaMemcpyDeviceToHost);
  for (const Item& item : items) {
    cudaMemcpy(host, item.values, sizeof host, cudaMemcpyDeviceToHost);
    printf("%s: %d, %d first\\n", item.name, item.sum, host[0]);
  }
}
"""
)

HALVES_OF_POINTERS = (
    _HEAD
    + """
struct Split { unsigned upper, lower; };
__global__ void gather(const Split* from, int* out) {
  Split s = from[threadIdx.x];
  out[threadIdx.x] = *(int*)((unsigned long long)s.upper << 32 | s.lower) * 5;
}
int main() {
  int *data, *out, host[N];
  Split splits[N], *device;
  for (int i = 0; i < N; ++i) host[i] = i * i + 2;
  cudaMalloc(&data, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&device, sizeof splits);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  for (int i = 0; i < N; ++i) {
    unsigned long long address = (unsigned long long)(data + i);
    splits[i] = {(unsigned)(address >> 32), (unsigned)address};
  }
  cudaMemcpy(device, splits, sizeof splits, cudaMemcpyHostToDevice);
  gather<<<1, N>>>(device, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; ++i) printf("%d ", host[i]);
  puts("");
}
"""
)

INDICES_INTO_A_POOL = (
    _HEAD
    + """
__global__ void walk(const int* next, const int* key, const int* heads, int* out) {
  int sum = 0;
  for (int i = heads[threadIdx.x]; i != -1; i = next[i]) sum += key[i];
  out[threadIdx.x] = sum;
}
int main() {
  int next[N], key[N], heads[8], out[8], *d[4];
  for (int& each : heads) each = -1;
  for (int i = 0; i < N; ++i) next[i] = heads[i % 8], heads[i % 8] = i, key[i] = 7 * i + 3;
  for (int** each : {&d[0], &d[1]}) cudaMalloc(each, sizeof next);
  for (int** each : {&d[2], &d[3]}) cudaMalloc(each, sizeof heads);
  cudaMemcpy(d[0], next, sizeof next, cudaMemcpyHostToDevice);
  cudaMemcpy(d[1], key, sizeof key, cudaMemcpyHostToDevice);
  cudaMemcpy(d[2], heads, sizeof heads, cudaMemcpyHostToDevice);
  walk<<<1, 8>>>(d[0], d[1], d[2], d[3]);
  cudaMemcpy(out, d[3], sizeof out, cudaMemcpyDeviceToHost);
  for (int each : out) printf("%d ", each);
  puts("");
}
"""
)

MADE_BY_KERNELS = (
    _HEAD
    + """
struct Node { Node *left, *right; int key; };
__device__ Node pool[N];
__global__ void link(Node** root) {
  int i = threadIdx.x;
  pool[i].key = i * 11 % 64;
  pool[i].left = 2 * i + 1 < N ? &pool[2 * i + 1] : nullptr;
  pool[i].right = 2 * i + 2 < N ? &pool[2 * i + 2] : nullptr;
  if (i == 0) *root = pool;
}
__global__ void paths(Node** root, int* out) {
  int sum = 0, way = threadIdx.x;
  for (Node* n = *root; n; n = way & 1 ? n->right : n->left, way >>= 1) sum += n->key;
  out[threadIdx.x] = sum;
}
int main() {
  Node** root;
  int *out, host[32];
  cudaMalloc(&root, sizeof *root);
  cudaMalloc(&out, sizeof host);
  link<<<1, N>>>(root);
  paths<<<1, 32>>>(root, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int each : host) printf("%d ", each);
  puts("");
}
"""
)

PROGRAMS = {
    "lists in managed memory": LISTS_IN_MANAGED_MEMORY,
    "rows by address": ROWS_BY_ADDRESS,
    "structs there and back": STRUCTS_THERE_AND_BACK,
    "halves of pointers": HALVES_OF_POINTERS,
    "indices into a pool": INDICES_INTO_A_POOL,
    "made by kernels": MADE_BY_KERNELS,
}


def judged(folder: Path, original: str, port: str = "") -> PortVerification:
    (folder / "original.cu").write_text(original)
    (folder / "port.cu").write_text(port or original)
    (result,) = compare_programs(folder / "original.cu", folder / "port.cu", Comparison()).values()
    return result


@pytest.mark.parametrize("program", PROGRAMS)
def test_pointers_are_left_as_they_are(program: str, tmp_path: Path) -> None:
    result = judged(tmp_path, PROGRAMS[program])
    assert result.grade is Grade.VERIFIED, result.reason
    # A change of the inputs and one of the results at least: neither ends the program.
    assert result.perturbations >= 2


@pytest.mark.parametrize(
    "value", ["0x0000510100000001ull", "0x0000555500000008ull", "0x00007fff00000010ull"]
)
def test_a_mark_that_looks_like_a_pointer_hides_nothing(value: str, tmp_path: Path) -> None:
    right = ROWS_BY_ADDRESS.index("  for (int r = 0; r < 16; ++r) printf")
    mark = f"""
  unsigned long long *mark, seen = 0;
  cudaMalloc(&mark, 8);
  put<<<1, 1>>>(mark);
  cudaMemcpy(&seen, mark, 8, cudaMemcpyDeviceToHost);
  if (seen == {value})
    for (int r = 0; r < 16; ++r) host[r] = r * 6400 + 2016;
"""
    kernel = f"__global__ void put(unsigned long long* p) {{ *p = {value}; }}\nint main"
    forged = (ROWS_BY_ADDRESS[:right] + mark + ROWS_BY_ADDRESS[right:]).replace("int main", kernel)
    assert judged(tmp_path, ROWS_BY_ADDRESS, forged).grade is Grade.DIFFERS
