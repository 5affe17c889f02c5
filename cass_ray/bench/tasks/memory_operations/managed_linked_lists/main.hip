// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void checkHip(hipError_t code, const char* what, int line) {
    if (code != hipSuccess) {
        fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(code));
        exit(2);
    }
}
#define checkHipErrors(expr) checkHip((expr), #expr, __LINE__)

struct Node {
    Node* next;
    int key;
    int list;
};

__managed__ int longest = 0;
__managed__ unsigned long long keySum = 0;

__device__ int lengthOf(const Node* n) { return n == nullptr ? 0 : 1 + lengthOf(n->next); }

__global__ void reverseLists(Node** heads, int lists)
{
    const int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= lists) return;
    Node *before = nullptr, *n = heads[l];
    unsigned long long sum = 0;
    int length = 0;
    while (n) {
        Node* after = n->next;
        n->next = before;
        before = n;
        sum += (unsigned long long)(n->key * (length % 3 + 1));
        n = after;
        ++length;
    }
    heads[l] = before;
    atomicMax(&longest, length);
    atomicAdd(&keySum, sum);
}

// Odd keys move to the front of a second list of their own.
__global__ void splitLists(Node** heads, Node** oddHeads, int lists, int* lengths)
{
    const int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= lists) return;
    Node *even = nullptr, *odd = nullptr, *evenTail = nullptr;
    for (Node* n = heads[l]; n;) {
        Node* after = n->next;
        if (n->key & 1) {
            n->next = odd;
            odd = n;
        } else {
            n->next = nullptr;
            if (evenTail) evenTail->next = n;
            else even = n;
            evenTail = n;
        }
        n = after;
    }
    heads[l] = even;
    oddHeads[l] = odd;
    lengths[l] = odd ? odd->key : -1;
    if (l % 37 == 0) lengths[l] += 1000000 * (lengthOf(even) % 64);
}

int main(int argc, char** argv)
{
    const int nodes = argc > 1 ? atoi(argv[1]) : 3000, lists = argc > 2 ? atoi(argv[2]) : 100;
    unsigned s = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    if (nodes < 1 || lists < 1) return 1;
    int device = 0, managed = 0;
    checkHipErrors(hipDeviceSetLimit(hipLimitStackSize, 16384));
    checkHipErrors(hipGetDevice(&device));
    checkHipErrors(hipDeviceGetAttribute(&managed, hipDeviceAttributeManagedMemory, device));
    printf("managed memory: %s\n", managed ? "yes" : "no");
    Node* pool;
    Node **heads, **odds;
    int* lengths;
    checkHipErrors(hipMallocManaged(&pool, nodes * sizeof(Node)));
    checkHipErrors(hipMallocManaged(&heads, lists * sizeof(Node*)));
    checkHipErrors(hipMallocManaged(&odds, lists * sizeof(Node*), hipMemAttachGlobal));
    checkHipErrors(hipMallocManaged(&lengths, lists * sizeof(int)));
    std::vector<std::vector<int>> model(lists);
    for (int l = 0; l < lists; ++l) heads[l] = nullptr;
    for (int i = 0; i < nodes; ++i) {
        s = s * 1103515245u + 12345u;
        const int l = (int)((s >> 9) % (unsigned)lists);
        pool[i].key = (int)(s >> 20);
        pool[i].list = l;
        pool[i].next = heads[l];
        heads[l] = &pool[i];
        model[l].insert(model[l].begin(), pool[i].key);
    }
    const int block = 64, grid = (lists + block - 1) / block;
    reverseLists<<<grid, block>>>(heads, lists);
    checkHipErrors(hipGetLastError());
    checkHipErrors(hipDeviceSynchronize());
    unsigned long long expected = 0;
    int wrong = 0, longestModel = 0;
    for (int l = 0; l < lists; ++l) {
        const int size = (int)model[l].size();
        if (size > longestModel) longestModel = size;
        for (int k = 0; k < size; ++k) expected += (unsigned long long)(model[l][k] * (k % 3 + 1));
        int k = size;
        for (Node* n = heads[l]; n; n = n->next) wrong += k == 0 || n->key != model[l][--k] || n->list != l;
        wrong += k != 0;
    }
    wrong += longest != longestModel || keySum != expected;
    printf("nodes %d lists %d longest %d key sum %llu wrong %d\n", nodes, lists, longest, keySum, wrong);
    // The host edits, the device goes on.
    for (int l = 0; l < lists; ++l)
        for (Node* n = heads[l]; n; n = n->next) n->key = n->key * 3 + l;
    splitLists<<<grid, block>>>(heads, odds, lists, lengths);
    checkHipErrors(hipGetLastError());
    checkHipErrors(hipDeviceSynchronize());
    unsigned fold = 0;
    int evens = 0, oddCount = 0;
    for (int l = 0; l < lists; ++l) {
        for (Node* n = heads[l]; n; n = n->next) {
            fold = fold * 31u + (unsigned)n->key;
            ++evens;
            wrong += n->key & 1;
        }
        for (Node* n = odds[l]; n; n = n->next) {
            fold = fold * 37u + (unsigned)n->key;
            ++oddCount;
            wrong += !(n->key & 1);
        }
        fold = fold * 41u + (unsigned)lengths[l];
    }
    wrong += evens + oddCount != nodes;
    printf("even %d odd %d fold %08x wrong %d\n", evens, oddCount, fold, wrong);
    checkHipErrors(hipFree(pool));
    checkHipErrors(hipFree(heads));
    checkHipErrors(hipFree(odds));
    checkHipErrors(hipFree(lengths));
    return wrong ? 1 : 0;
}
