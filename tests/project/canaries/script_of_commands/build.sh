#!/bin/bash
set -e
ARCH=${ARCH:-sm_70}
NVCC=${NVCC:-nvcc}
$NVCC -arch=$ARCH -O3 --use_fast_math -lineinfo -Xptxas -v -c median.cu -o median.o
g++ -O2 -std=c++17 -c main.cpp -o main.o
$NVCC -arch=$ARCH main.o median.o -o median
