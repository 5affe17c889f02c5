#!/bin/bash
# The linker as g++ finds it by COMPILER_PATH: the static CUDA runtime calls Nvidia's driver itself.
arguments=()
for argument in "$@"; do
  case "$argument" in
    -lcudart_static | -l:libcudart_static.a | */libcudart_static.a) arguments+=(@runtime@) ;;
    *) arguments+=("$argument") ;;
  esac
done
exec /usr/bin/ld "${arguments[@]}" @folders@
