#!/usr/bin/env bash
# The README's two commands on a machine that has never seen the project: a bare Debian root.
#
#   scripts/fresh.sh                  Debian 12: set-up, demo, tests, wheel; as root and as a user
#   scripts/fresh.sh --quick          without the test suite
#   scripts/fresh.sh --suite noble    another release: Ubuntu 24.04 (its archive beside Debian's)
#
# Needs root, debootstrap (apt-get install debootstrap), 15 GB below TMPDIR and the network that the
# commands need: the package registries as this machine's apt and pip are configured. What is built
# is HEAD as committed. The log is build/fresh/SUITE.log; a pass of the full run on Debian 12 writes
# .ci/fresh-passed, the digest of the set-up files, by which CI knows whether to run this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

SUITE=bookworm QUICK=false
while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) QUICK=true ;;
    --suite) SUITE=${2:?--suite NAME}; shift ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
readonly SUITE QUICK
readonly LOG=build/fresh/$SUITE.log
say() { printf 'fresh (%s s): %s\n' "$SECONDS" "$*" | tee -a "$LOG"; }

[[ $(id -u) == 0 ]] || { echo "fresh: a root for another system can only be made by root" >&2; exit 3; }
for tool in debootstrap unshare pivot_root git; do
  command -v "$tool" >/dev/null || { echo "fresh: $tool is missing (apt-get install debootstrap util-linux git)" >&2; exit 3; }
done
mkdir -p build/fresh
: >"$LOG"

readonly ROOT=$(mktemp -d "${TMPDIR:-/var/tmp}/cass-fresh-XXXXXX")
chmod 755 "$ROOT"
trap 'rm -rf --one-file-system "$ROOT"' EXIT

# --- A minimal image, and the way to the registries ----------------------------------------------

mirror() {
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
    sed -nE 's#^(URIs:|deb( \[[^]]*\])?) *([^ ]+/(debian|ubuntu))/? *.*#\3#p' | head -n 1
}

# Paths on this machine that pip's configuration names: local indexes and folders of wheels.
pip_folders() {
  { python3 -m pip config list 2>/dev/null; env; } |
    grep -oE "(file://|[ ='])/[A-Za-z0-9_./-]+" | sed -E "s#^(file://|[ ='])##" | sort -u |
    while read -r path; do [[ ! -d $path || $path != /opt/* ]] || echo "$path"; done
}

say "bare $SUITE"
MIRROR=$(mirror)
declare -a HOW=("$SUITE" "$ROOT" "$MIRROR")
if [[ $SUITE == noble ]]; then
  # Debian's debootstrap has neither Ubuntu's keys nor a link for a release newer than itself; apt in
  # the root has the keys, and checks all that is installed later.
  UBUNTU=${MIRROR/%debian/ubuntu}
  HOW=(--no-check-gpg "$SUITE" "$ROOT" "$UBUNTU" /usr/share/debootstrap/scripts/gutsy)
fi
debootstrap --variant=minbase "${HOW[@]}" >>"$LOG" 2>&1 || { tail -n 5 "$LOG" >&2; exit 1; }
if [[ $SUITE == noble ]]; then
  printf "deb $UBUNTU %s main universe\n" noble noble-updates noble-security >"$ROOT/etc/apt/sources.list"
fi
cp -a /etc/apt/apt.conf.d/. "$ROOT/etc/apt/apt.conf.d/"
rm -f "$ROOT"/etc/apt/apt.conf.d/docker-*
if [[ $SUITE == bookworm ]]; then
  rm -f "$ROOT/etc/apt/sources.list"
  cp -aL /etc/apt/sources.list "$ROOT/etc/apt/" 2>/dev/null || true
  cp -aL /etc/apt/sources.list.d/*.sources "$ROOT/etc/apt/sources.list.d/" 2>/dev/null || true
fi
for file in /etc/pip.conf /etc/resolv.conf /etc/hosts; do
  [[ ! -e $file ]] || cp -L "$file" "$ROOT$file"
done
# A network with an authority of its own: the package ca-certificates would overwrite its file.
readonly AUTHORITIES=/etc/cass-fresh-authorities.crt
cat "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" >"$ROOT$AUTHORITIES"
# What every minimal image has beside the base system, for the first of the two commands.
env -i PATH="$PATH" chroot "$ROOT" sh -c \
  'apt-get update -qq && apt-get install -y -qq --no-install-recommends make' >>"$LOG" 2>&1
rm -rf "$ROOT"/var/lib/apt/lists/* "$ROOT"/var/cache/apt/*.bin

useradd --root "$ROOT" --create-home tester 2>>"$LOG"
git clone --quiet --no-hardlinks . "$ROOT/home/tester/cass-ray"
git clone --quiet --no-hardlinks . "$ROOT/root/cass-ray"
chroot "$ROOT" chown -R tester:tester /home/tester

# --- Commands inside: a mount tree of their own, so that nothing is left mounted -------------------
# pivot_root rather than chroot: the kernel refuses user namespaces, and so the sandbox, in a chroot.

inside() {
  local user=$1 script=$2
  local -a environment=(HOME="$([[ $user == root ]] && echo /root || echo "/home/$user")"
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin USER="$user" TERM=dumb
    SSL_CERT_FILE="$AUTHORITIES" REQUESTS_CA_BUNDLE="$AUTHORITIES" PIP_CERT="$AUTHORITIES")
  local name
  for name in $(compgen -e | grep -E '^(PIP_|https?_proxy$|HTTPS?_PROXY$)' | grep -vx PIP_CERT); do
    environment+=("$name=${!name}")
  done
  pip_folders >"$ROOT/.folders"
  unshare --mount --pid --fork --uts --ipc --kill-child --propagation private bash -euo pipefail -c '
    root=$1 user=$2 script=$3
    shift 3
    mount --bind "$root" "$root"
    while read -r path; do
      mkdir -p "$root$path"
      mount --rbind "$path" "$root$path"
    done <"$root/.folders"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    mount -t proc proc "$root/proc"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mkdir -p "$root/.old"
    cd "$root"
    pivot_root . .old
    umount -l /.old
    if [[ $user == root ]]; then
      exec env -i "$@" bash -euc "cd ~/cass-ray; $script"
    fi
    exec env -i "$@" setpriv --reuid="$user" --regid="$user" --init-groups --no-new-privs \
      bash -euc "cd ~/cass-ray; $script"
  ' inside "$ROOT" "$user" "$script" "${environment[@]}" </dev/null >>"$LOG" 2>&1
}

expect() { # STATUS USER SCRIPT WHAT
  local status=0 before=$SECONDS
  inside "$2" "$3" || status=$?
  if [[ $status != "$1" ]]; then
    tail -n 60 "$LOG" >&2
    say "FAILED: $4 (status $status, expected $1)"
    exit 1
  fi
  say "ok: $4 ($((SECONDS - before)) s)"
}

readonly DEMO_IS_WHOLE='python3 - <<END
import json
report = json.load(open("out/demo/report.json"))
assert report["pairs"] == 78 == report["verified"].get("executed", 0), report
END'

expect 3 tester 'scripts/setup.sh' 'an ordinary user without sudo gets the list and exit 3'
grep -q 'these system packages are missing' "$LOG" || { say "FAILED: no list of packages"; exit 1; }
expect 0 root "make demo && $DEMO_IS_WHOLE" 'make demo, as root'
if ! $QUICK; then
  expect 0 root 'make test' 'make test, as root'
fi
expect 0 tester "make demo && $DEMO_IS_WHOLE" 'make demo, as an ordinary user (packages are there)'
expect 0 tester '
  .venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir /tmp/wheel .
  python3 -m venv /tmp/empty
  /tmp/empty/bin/pip install --quiet --constraint constraints.txt "$(echo /tmp/wheel/*.whl)[nvidia]"
  cd /tmp
  cp ~/cass-ray/cass_ray/corpus/shipped/programs/graphics/mandelbrot_fixed.cu program.cu
  /tmp/empty/bin/cass doctor
  /tmp/empty/bin/cass translate program.cu -o program.hip
  /tmp/empty/bin/cass run program.cu
  /tmp/empty/bin/python -c "
import cass_ray_serve, pathlib
assert list(pathlib.Path(cass_ray_serve.__file__).parent.rglob(\"index.html\"))"
' 'the wheel in an empty environment translates and runs a program'

if ! $QUICK && [[ $SUITE == bookworm ]]; then
  scripts/setup_digest.sh >.ci/fresh-passed
  say "written: .ci/fresh-passed"
fi
grep -E '^[0-9]+ (passed|failed)|passed|SKIPPED' "$LOG" | tail -n 12 || true
say "everything passed"
