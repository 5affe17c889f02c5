#!/bin/bash
# A clone of a dependency that was given is a copy of its folder. Whatever else: git's own.
folder_of() {
  case ${1,,} in
@cases@
  esac
}
here=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
real=$(type -ap git | grep -vxF "$here/git" | head -n 1)
[[ $real ]] || { echo "git: command not found" >&2; exit 127; }
options=()
while (($#)); do
  case $1 in
    -C) cd "$2" || exit 128 ;;&
    -c | --git-dir | --work-tree) options+=("$1" "$2") ;;&
    -C | -c | --git-dir | --work-tree) shift 2 ;;
    -*) options+=("$1"); shift ;;
    *) break ;;
  esac
done
git() { "$real" "${options[@]}" "$@"; }
is_copy() { [[ $(git config --local --get cass.dependency 2>/dev/null) ]]; }

clone() {
  local branch=main places=()
  while (($#)); do
    case $1 in
      -b | --branch) branch=$2; shift ;;
      --branch=*) branch=${1#*=} ;;
      -c | -j | -o | -u | --config | --depth | --filter | --jobs | --origin | --reference | \
        --separate-git-dir | --shallow-exclude | --shallow-since | --template | --upload-pack)
        shift ;;
      -*) ;;
      *) places+=("$1") ;;
    esac
    shift
  done
  local url=${places[0]%/} folder target
  local name=${url##*/}
  name=${name%.git}
  folder=$(folder_of "$name")
  [[ $folder ]] || return 1
  target=${places[1]:-$name}
  if [[ -e $target && $(ls -A "$target") ]]; then
    echo "fatal: destination path '$target' already exists and is not an empty directory." >&2
    exit 128
  fi
  mkdir -p "$target" && cp -R "$folder/." "$target" && cd "$target" || exit 128
  options=(-c user.name=cass -c user.email=cass@localhost -c commit.gpgSign=false)
  git init -q . && git symbolic-ref HEAD "refs/heads/$branch" \
    && git remote add origin "$url" && git config --local cass.dependency "$name" \
    && git add -A -f && git commit -q --no-verify -m "$url" || exit 128
  echo "git: $url is $folder, as --dependency says" >&2
  exit 0
}

known() {  # whether all revisions and files that are named are there
  local argument
  for argument; do
    case $argument in
      --) return 0 ;;
      -*) ;;
      *)
        [[ -e $argument ]] || git rev-parse -q --verify "$argument^{commit}" >/dev/null || return 1
        ;;
    esac
  done
}

case ${1-} in
  clone) clone "${@:2}" ;;
  # A copy is the revision that was asked for, and holds its submodules.
  fetch | pull | submodule) is_copy && exit 0 ;;
  checkout | reset | switch) is_copy && ! known "${@:2}" && exit 0 ;;
esac
exec "$real" "${options[@]}" "$@"
