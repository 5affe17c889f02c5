// SPDX-License-Identifier: MIT
// List ranking by pointer jumping (Wyllie): distance of every node from the tail of a linked
// list stored in scrambled order. Successor and distance are updated as one packed word pair.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define OK_OR_DIE(call)                                                \
    do {                                                               \
        const cudaError_t r = (call);                                  \
        if (r != cudaSuccess) {                                        \
            fprintf(stderr, "list ranking: %s\n", cudaGetErrorString(r)); \
            exit(2);                                                   \
        }                                                              \
    } while (0)

struct __align__(8) Node {
    int next;      // the tail points at itself
    int distance;  // links up to `next`
};

__global__ void jump(const Node* __restrict__ in, Node* __restrict__ out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const Node self = in[i];
        const Node ahead = in[self.next];
        out[i] = Node{ahead.next, self.distance + ahead.distance};
    }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 20000;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 3u;
    if (n < 1)
        return 2;

    // Fisher-Yates permutation: order[k] is the node at place k of the list.
    std::vector<int> order(n);
    for (int i = 0; i < n; ++i)
        order[i] = i;
    for (int i = n - 1; i > 0; --i) {
        seed = seed * 1664525u + 1013904223u;
        std::swap(order[i], order[(seed >> 4) % (unsigned)(i + 1)]);
    }
    std::vector<Node> nodes(n);
    for (int k = 0; k < n; ++k)
        nodes[order[k]] = k + 1 < n ? Node{order[k + 1], 1} : Node{order[k], 0};

    Node *a, *b;
    OK_OR_DIE(cudaMalloc(&a, n * sizeof(Node)));
    OK_OR_DIE(cudaMalloc(&b, n * sizeof(Node)));
    OK_OR_DIE(cudaMemcpy(a, nodes.data(), n * sizeof(Node), cudaMemcpyHostToDevice));
    int rounds = 0;
    for (int reach = 1; reach < n; reach *= 2, ++rounds) {
        jump<<<(n + 191) / 192, 192>>>(a, b, n);
        OK_OR_DIE(cudaGetLastError());
        std::swap(a, b);
    }
    OK_OR_DIE(cudaMemcpy(nodes.data(), a, n * sizeof(Node), cudaMemcpyDeviceToHost));
    OK_OR_DIE(cudaFree(a));
    OK_OR_DIE(cudaFree(b));

    int wrong = 0;
    for (int k = 0; k < n; ++k)
        wrong += nodes[order[k]].distance != n - 1 - k || nodes[order[k]].next != order[n - 1];
    printf("list of %d nodes ranked in %d rounds\n", n, rounds);
    printf("rank of node 0: %d, of node %d: %d\n", nodes[0].distance, n / 2, nodes[n / 2].distance);
    printf("verify: %s\n", wrong ? "MISMATCH" : "OK");
    return wrong ? 1 : 0;
}
