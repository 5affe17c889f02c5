#!/usr/bin/env bash
# Install what cass-ray needs: system packages (apt), a virtual environment, the HIP headers.
#
#   scripts/setup.sh          to build data sets (extras: nvidia)
#   scripts/setup.sh --dev    to run the tests as well (extras: nvidia, train, dev)
#   scripts/setup.sh --train  nothing but the packages of training, where the first was run
#
# Safe to repeat; returns at once when nothing has changed. Environment: PYTHON (interpreter for a
# new environment), VENV (default .venv), CASS_CACHE. Exit codes: 0 done, 1 an installation failed,
# 2 usage, 3 something is missing that this user may not install (the list says what).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly VENV=${VENV:-.venv}
readonly LOGS=build/setup
EXTRAS=nvidia
TEST_TOOLS=false
PACKAGES_ONLY=false
case "${1:-}" in
  "") ;;
  --dev) EXTRAS=nvidia,train,dev TEST_TOOLS=true ;;
  --train) EXTRAS=train PACKAGES_ONLY=true ;;
  *) echo "usage: scripts/setup.sh [--dev | --train]" >&2; exit 2 ;;
esac

trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

say() { printf 'setup (%s s): %s\n' "$SECONDS" "$*"; }

# --- What is there ----------------------------------------------------------------------------

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
    if [[ -n $candidate ]] && "$candidate" -c \
      'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}

# Whether there is a usable clang with its lld; ROCm brings its own.
find_clang() {
  local major
  for major in 19 20 18; do
    if command -v "clang++-$major" && command -v "ld.lld-$major"; then
      return 0
    fi
  done >/dev/null
  [[ -n ${CASS_CLANG:-} ]] ||
    compgen -G '/opt/rocm*/llvm/bin/clang++' >/dev/null ||
    compgen -G '/opt/rocm*/lib/llvm/bin/clang++' >/dev/null
}

find_libclc() {
  [[ -n ${CASS_LIBCLC:-} ]] || compgen -G '/usr/lib/clc/nvptx64--nvidiacl.bc' >/dev/null
}

# OpenMP for clang, of its own version.
find_openmp() {
  compgen -G '/usr/lib/llvm-*/lib/clang/*/include/omp.h' >/dev/null ||
    compgen -G '/opt/rocm*/llvm/lib/clang/*/include/omp.h' >/dev/null
}

find_opencl_driver() {
  { [[ -n ${OCL_ICD_VENDORS:-} ]] || compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null; } &&
    compgen -G '/usr/lib/*/libOpenCL.so.1' >/dev/null
}

find_browser() {
  command -v chromium || command -v chromium-browser || command -v google-chrome
} >/dev/null

# One package name a line; clang and llvm without a version, which needs the package lists.
missing_packages() {
  find_python >/dev/null || [[ -x $VENV/bin/python ]] || printf '%s\n' python3 python3-venv
  command -v g++ >/dev/null || echo g++
  command -v make >/dev/null || echo make
  command -v git >/dev/null || echo git
  command -v bwrap >/dev/null || echo bubblewrap
  find_clang || printf '%s\n' clang lld
  # Older ones, which other packages bring, do not know gfx11.
  if $TEST_TOOLS && ! compgen -G '/usr/lib/llvm-1[89]/bin/llvm-mc' >/dev/null &&
    ! compgen -G '/usr/lib/llvm-2?/bin/llvm-mc' >/dev/null; then echo llvm; fi
}

# What only a part needs (OpenCL on Nvidia; OpenMP in projects; with --dev the tests of OpenCL drivers, of the page and of
# projects that CMake builds).
# Setup goes on where the system has no such package, or may not be changed.
optional_packages() {
  find_libclc || echo libclc
  find_openmp || echo libomp
  if $TEST_TOOLS; then
    find_opencl_driver || printf '%s\n' pocl-opencl-icd ocl-icd-libopencl1
    find_browser || echo chromium
    command -v cmake >/dev/null || echo cmake
  fi
}

stamp_key() {
  cat pyproject.toml constraints.txt scripts/setup.sh cass_ray/toolchain/hip/packages.py \
    cass_ray/toolchain/hip/libraries.py cass_ray/toolchain/archive/debian_packages.csv \
    cass_ray/toolchain/archive/debian_archive.py cass_ray/toolchain/hip/archive_headers.py \
    cass_ray/toolchain/hip/root.py \
    cass_ray/toolchain/hip/repairs.py | sha256sum | cut -c1-16
}

# --- System packages --------------------------------------------------------------------------

# Only of use after `apt-get update`: fresh machines have empty package lists. A transitional package
# that wants snapd (Ubuntu's chromium) is none.
has_candidate() {
  apt-cache policy "$1" 2>/dev/null | grep 'Candidate: [0-9]' | grep -qv snap
}

# Debian and Ubuntu releases carry different clang versions: take the best that there is.
llvm_major() {
  local major
  for major in 19 20 18; do
    if has_candidate "clang-$major" && has_candidate "lld-$major"; then echo "$major"; return 0; fi
  done
  echo 19
}

with_versions() {
  local name major=
  for name in "$@"; do
    case $name in
      clang | lld | llvm | libclc) major=${major:-$(llvm_major)}; echo "$name-$major" ;;
      libomp) major=${major:-$(llvm_major)}; echo "libomp-$major-dev" ;;
      *) echo "$name" ;;
    esac
  done
}

cannot_install() {
  {
    echo "setup: these system packages are missing, and $1:"
    printf '  %s\n' "${@:2}"
    echo "On Debian or Ubuntu:"
    echo "  sudo apt-get install --no-install-recommends $(with_versions "${@:2}" | tr '\n' ' ')"
  } >&2
  exit 3
}

# Sets AS_ROOT, the words before a command that needs root; exits with 3 where there are none.
require_apt() {
  command -v apt-get >/dev/null || cannot_install "this system has no apt-get" "$@"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || cannot_install "neither root nor sudo is at hand" "$@"
    if [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; then
      cannot_install "sudo asks for a password" "$@"
    fi
    AS_ROOT=(sudo)
  fi
  AS_ROOT+=(env DEBIAN_FRONTEND=noninteractive)
}

# Installs the packages given, then those of OPTIONAL that this system's lists have.
install_packages() {
  if ! "${AS_ROOT[@]}" apt-get update -qq >"$LOGS/apt-update.log" 2>&1; then
    say "apt-get update failed: going on with the package lists that there are"
  fi
  local -a packages optional=()
  mapfile -t packages < <(with_versions "$@")
  if [[ ${#packages[@]} -gt 0 ]] && ! apt_install "${packages[@]}"; then
    tail -n 20 "$LOGS/apt-install.log" >&2
    cannot_install "apt-get install failed (see $LOGS/apt-install.log)" "$@"
  fi
  local name
  for name in $(with_versions ${OPTIONAL[@]+"${OPTIONAL[@]}"}); do
    if has_candidate "$name"; then
      optional+=("$name")
    else
      say "this system has no package $name: what needs it stays off"
    fi
  done
  if [[ ${#optional[@]} -gt 0 ]] && ! apt_install "${optional[@]}"; then
    say "optional packages could not be installed (see $LOGS/apt-install.log): ${optional[*]}"
  fi
}

apt_install() {
  say "system packages: $*"
  "${AS_ROOT[@]}" apt-get install -y -qq --no-install-recommends "$@" >>"$LOGS/apt-install.log" 2>&1
}

# --- Python packages --------------------------------------------------------------------------

make_environment() {
  local python
  python=$(find_python) || { say "no Python 3.11 or newer with venv: set PYTHON" >&2; exit 3; }
  say "virtual environment $VENV ($("$python" --version))"
  "$python" -m venv "$VENV"
}

# uv installs the same pinned packages several times faster; pip does where uv cannot. Certificates:
# the system's first (networks with an authority of their own), then those that uv brings.
install_python_packages() {
  local -a packages=(--constraint constraints.txt --editable ".[$EXTRAS]")
  local -a uv=("$VENV/bin/python" -m uv pip install --quiet --python "$VENV/bin/python")
  "${uv[@]}" --system-certs "${packages[@]}" || "${uv[@]}" "${packages[@]}" ||
    "$VENV/bin/python" -m pip install --quiet "${packages[@]}"
}

# jsonschema compiles this package's grammar whenever it is imported, and Ray imports jsonschema: half a
# dozen processes of every node for 2.5 s of CPU each. cyclonedx-bom brings it, whose bills of
# materials are the same without.
remove_slow_packages() {
  "$VENV/bin/python" -m pip uninstall --quiet --yes rfc3987-syntax >>"$LOGS/python.log" 2>&1
}

# --- All together -----------------------------------------------------------------------------

if $PACKAGES_ONLY; then
  mkdir -p "$LOGS"
  # uv reads none of pip's settings; wheels that lie on this machine are gigabytes not to be fetched.
  if [[ -n ${PIP_FIND_LINKS:-} ]]; then export UV_FIND_LINKS=${UV_FIND_LINKS:-${PIP_FIND_LINKS// /,}}; fi
  install_python_packages >"$LOGS/python-train.log" 2>&1 && exit 0
  tail -n 30 "$LOGS/python-train.log" >&2
  exit 1
fi

readonly STAMP="$VENV/.setup-$EXTRAS-$(stamp_key)"
mapfile -t MISSING < <(missing_packages)
mapfile -t OPTIONAL < <(optional_packages)
if [[ -f $STAMP && ${#MISSING[@]} == 0 && $(<"$STAMP") == "${OPTIONAL[*]}" ]]; then
  exit 0
fi
mkdir -p "$LOGS"
: >"$LOGS/apt-install.log"

APT_JOB=
AS_ROOT=()
if [[ ${#MISSING[@]} == 0 && ${#OPTIONAL[@]} -gt 0 ]] && ! (require_apt) 2>/dev/null; then
  say "optional system packages are missing and may not be installed: ${OPTIONAL[*]}"
elif [[ ${#MISSING[@]} -gt 0 || ${#OPTIONAL[@]} -gt 0 ]]; then
  require_apt ${MISSING[@]+"${MISSING[@]}"}
  if [[ " ${MISSING[*]} " == *" python3 "* ]]; then
    install_packages "${MISSING[@]}" # Python first: nothing else can run beside it
  else
    install_packages ${MISSING[@]+"${MISSING[@]}"} &
    APT_JOB=$!
  fi
fi

[[ -x $VENV/bin/python ]] || make_environment
# What fetching the HIP headers imports, and uv.
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
  platformdirs zstandard uv 2>"$LOGS/pip.log" || { cat "$LOGS/pip.log" >&2; exit 1; }

say "HIP headers and device libraries (in the background)"
{
  "$VENV/bin/python" -m cass_ray.toolchain.hip.packages
  "$VENV/bin/python" -m cass_ray.toolchain.hip.archive_headers || true # or from the repositories
} >"$LOGS/hip-headers.log" 2>&1 &
HEADERS_JOB=$!

say "Python packages: .[$EXTRAS]"
if ! install_python_packages >"$LOGS/python.log" 2>&1; then
  tail -n 30 "$LOGS/python.log" >&2
  exit 1
fi
remove_slow_packages
wait "$HEADERS_JOB" || { cat "$LOGS/hip-headers.log" >&2; exit 3; }
if [[ -n $APT_JOB ]]; then wait "$APT_JOB" || exit $?; fi

say "rocWMMA's headers (optional)"
"$VENV/bin/python" -m cass_ray.toolchain.hip.libraries >"$LOGS/hip-libraries.log" 2>&1 ||
  say "not to be had here: programs that use tensor cores by wmma will not compile"

say "HIP root"
"$VENV/bin/python" -m cass_ray.toolchain.hip.root || exit $?
if ! "$VENV/bin/cass" doctor >"$LOGS/doctor.log" 2>&1; then
  cat "$LOGS/doctor.log" >&2
  exit 3
fi
rm -f "$VENV"/.setup-*
# A stamp holds what stays missing, so that only a change of it makes setup run again.
optional_packages | paste -sd ' ' >"$STAMP"
if [[ $EXTRAS == *dev* ]]; then
  TEST_TOOLS=false
  optional_packages | paste -sd ' ' >"$VENV/.setup-nvidia-$(stamp_key)"
fi
say "the toolchains work (cass doctor shows them)"
