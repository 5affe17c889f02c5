#!/bin/bash
# nvcc for @architecture@ and the shared runtime, whatever it is told: what can be lifted.
arguments=()
while [ $# -gt 0 ]; do
  case "$1" in
    -arch | --gpu-architecture | -code | --gpu-code | -gencode | --generate-code \
      | -cudart | --cudart)
      shift
      ;;
    -arch=* | --gpu-architecture=* | -code=* | --gpu-code=* | -gencode=* | --generate-code=* \
      | -cudart=* | --cudart=*) ;;
    *) arguments+=("$1") ;;
  esac
  [ $# -eq 0 ] || shift
done
arguments+=(-arch=@architecture@ -cudart shared)
case " ${arguments[*]} " in
  *" -v "* | *" --verbose "* | *" -dryrun "* | *" --dryrun "*)
    # From this CMake reads where the toolkit is, and calls the nvcc that it finds there.
    exec 3>&1
    @nvcc@ "${arguments[@]}" 2>&1 >&3 | sed 's|^#[$] TOP=.*|#$ TOP=@root@/bin/..|' >&2
    exit "${PIPESTATUS[0]}"
    ;;
esac
exec @nvcc@ "${arguments[@]}"
