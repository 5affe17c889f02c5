#!/bin/sh
# Objects are linked without targets: with -fopenmp clang would link OpenMP's offloading for them.
objects=true
for argument do
  case $argument in
    -c | -S | -E | -M | -MM | -x | -fsyntax-only | --hip-link | *.hip | *.cu) objects=false ;;
  esac
done
for argument do
  shift
  case $objects$argument in true--offload-arch=*) continue ;; esac
  set -- "$@" "$argument"
done
exec @command@ "$@"
