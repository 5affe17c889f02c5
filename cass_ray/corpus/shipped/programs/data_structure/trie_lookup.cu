// SPDX-License-Identifier: MIT
// Longest-prefix match of IPv4 addresses in a multibit trie (stride four). The host builds the
// trie, the top level sits in constant memory, one thread looks up one address
// and cuts nibbles with the bit-field-extract instruction.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(s)                                                                \
    if (cudaError_t e_ = (s)) {                                                      \
        fprintf(stderr, "trie: %s (line %d)\n", cudaGetErrorString(e_), __LINE__);   \
        exit(2);                                                                     \
    }

struct Entry {
    int child;      // index of the next node, or -1
    short hop;      // next hop, or -1
    short length;   // prefix length that set the hop
};

struct TrieNode {
    Entry entry[16];
};

__constant__ TrieNode rootNode;

__device__ __forceinline__ unsigned nibble(unsigned word, unsigned shift)
{
    unsigned field;
    asm("bfe.u32 %0, %1, %2, 4;" : "=r"(field) : "r"(word), "r"(shift));
    return field;
}

__global__ void route(const TrieNode* __restrict__ nodes, const unsigned* __restrict__ address, int n,
                      int* __restrict__ hop, unsigned* hopCounts, int hops)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned a = address[i];
    Entry e = rootNode.entry[nibble(a, 28)];
    int best = e.hop;
    for (int shift = 24; shift >= 0 && e.child >= 0; shift -= 4) {
        e = nodes[e.child].entry[nibble(a, shift)];
        if (e.hop >= 0)
            best = e.hop;
    }
    hop[i] = best;
    if (best >= 0 && best < hops)
        atomicAdd(&hopCounts[best], 1u);
}

struct Prefix {
    unsigned bits;
    int length, hop;
};

static TrieNode emptyNode()
{
    TrieNode t;
    for (Entry& e : t.entry)
        e = Entry{-1, -1, -1};
    return t;
}

static void insert(std::vector<TrieNode>& nodes, const Prefix& p)
{
    int node = 0, depth = 0;
    while (p.length > depth + 4) {
        const unsigned slot = p.bits >> (28 - depth) & 15u;
        if (nodes[node].entry[slot].child < 0) {
            const int fresh = (int)nodes.size();
            nodes[node].entry[slot].child = fresh;
            nodes.push_back(emptyNode());
        }
        node = nodes[node].entry[slot].child;
        depth += 4;
    }
    // Prefixes that end inside this node are expanded over all slots they cover.
    const int spare = depth + 4 - p.length;
    const unsigned first = (p.bits >> (28 - depth) & 15u) >> spare << spare;
    for (unsigned s = first; s < first + (1u << spare); ++s)
        if (nodes[node].entry[s].length <= p.length) {
            nodes[node].entry[s].hop = (short)p.hop;
            nodes[node].entry[s].length = (short)p.length;
        }
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 10000;
    const int prefixes = argc > 2 ? atoi(argv[2]) : 400;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 10u;
    if (n < 1 || prefixes < 1)
        return 2;
    auto draw = [&seed]() {
        seed = seed * 1664525u + 1013904223u;
        return seed;
    };
    const int hops = 16;
    std::vector<Prefix> table(prefixes);
    std::vector<TrieNode> nodes(1, emptyNode());
    for (Prefix& p : table) {
        p.length = 6 + (int)(draw() >> 16) % 19;
        p.bits = (draw() ^ draw() >> 16) & (0xffffffffu << (32 - p.length));
        p.hop = (int)(draw() >> 20) % hops;
        insert(nodes, p);
    }
    std::vector<unsigned> address(n);
    for (int i = 0; i < n; ++i) {
        address[i] = draw() ^ draw() >> 16;
        if (i % 2)  // half of the traffic goes to announced networks
            address[i] = table[i % prefixes].bits | (address[i] & 0xffu);
    }

    TrieNode* dNodes;
    unsigned *dAddress, *dCounts;
    int* dHop;
    CUDA_CHECK(cudaMalloc(&dNodes, nodes.size() * sizeof(TrieNode)));
    CUDA_CHECK(cudaMalloc(&dAddress, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&dHop, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&dCounts, hops * sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(dCounts, 0, hops * sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpyToSymbol(rootNode, nodes.data(), sizeof(TrieNode)));
    CUDA_CHECK(cudaMemcpy(dNodes, nodes.data(), nodes.size() * sizeof(TrieNode), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dAddress, address.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    route<<<(n + 127) / 128, 128>>>(dNodes, dAddress, n, dHop, dCounts, hops);
    CUDA_CHECK(cudaGetLastError());
    std::vector<int> hop(n);
    unsigned counts[hops];
    CUDA_CHECK(cudaMemcpy(hop.data(), dHop, n * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(counts, dCounts, sizeof counts, cudaMemcpyDeviceToHost));

    int wrong = 0, routed = 0;
    for (int i = 0; i < n; ++i) {
        int best = -1, length = -1;
        for (const Prefix& p : table)  // later announcements of the same length win
            if (p.length >= length && (address[i] ^ p.bits) >> (32 - p.length) == 0) {
                best = p.hop;
                length = p.length;
            }
        wrong += best != hop[i];
        routed += hop[i] >= 0;
    }
    printf("%d prefixes in %d nodes, %d of %d addresses routed\n", prefixes, (int)nodes.size(), routed, n);
    for (int h = 0; h < hops; ++h)
        printf("%u%c", counts[h], h + 1 < hops ? ' ' : '\n');
    printf("verify: %s\n", wrong ? "MISMATCH" : "OK");
    CUDA_CHECK(cudaFree(dNodes));
    CUDA_CHECK(cudaFree(dAddress));
    CUDA_CHECK(cudaFree(dHop));
    CUDA_CHECK(cudaFree(dCounts));
    return wrong ? 1 : 0;
}
