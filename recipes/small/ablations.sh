#!/bin/bash
# What each part of the data and each format of answers is worth: runs of equal tokens.
#
#     setsid nohup recipes/small/ablations.sh DIR OUT SECONDS GPU … > OUT.log 2>&1 &
#
# DIR is what `recipes.small.model pack` and `recipes.judge.answers choose` wrote. On every GPU that is named one arm
# after the other trains for SECONDS; the first measures how many steps that is, and all others
# make as many. OUT/ARM/answers and OUT/ARM/run/metrics.jsonl are what `recipes.judge.answers` and a reader
# need. May be set: ARMS (name, data, share of whole files, options of answers); STEPS; OPTIONS of `recipes.small.model run` (a smaller shape); WAIT_FOR, a file that arms wait
# for; MOST seconds, after which none is begun; ANSWERING seconds; TOOLS (of `recipes.judge.tools unpack`)
# and PROGRAMS (of `recipes.rl.loop held-out`), to judge answers to held-out programs: OUT/ARM/worth.jsonl.
DIR=$1 OUT=$2 TRAINING=$3 GPUS=("${@:4}")
END=$((SECONDS + ${MOST:-100000}))
RUN="python3 -m recipes.small.model"
export PYTHONUNBUFFERED=1
mkdir -p "$OUT"
say() { echo "== $SECONDS s: $*"; }

ARMS=${ARMS:-"both full 0.3
generated generated 0.3
edits full 0 --form edits
executed executed 0.3
files full 1 --form file"} # a further one that is named fp8 has its products in FP8

# Amounts of the kinds of data, and whose tokens an arm takes.
generated="--most 0 --grafted 0"
executed="--most 0 --grafted 0 --drills 0 --ptx 0" # what ran: shipped and generated programs
data() { # its name
  # shellcheck disable=SC2086 # several options
  $RUN prepare "$DIR" --out "$OUT/data-$1" --asked-only $OPTIONS ${!1} > "$OUT/data-$1.log" 2>&1 || { say "no data $1"; return; }
  touch "$OUT/at.data-$1"
  say "data $1"
}
for name in full generated executed; do
  grep -q " $name " <<< "$ARMS" && data $name &
done

arm() { # its GPU, name, data, share of whole files, form of the answers
  local gpu=$1 name=$2 data=$3 files=$4 form=$5 steps="" more=""
  [ "$name" != fp8 ] || more="--set model.fp8=true"
  [ "$SECONDS" -lt "$END" ] || { say "$name left out"; return; }
  until [ -e "$OUT/at.data-$data" ]; do
    [ "$SECONDS" -lt "$END" ] || { say "$name: no data"; return; }
    sleep 1
  done
  until [ -z "$WAIT_FOR" ] || [ -e "$WAIT_FOR" ]; do sleep 1; done
  cp -r "$OUT/data-$data" "$OUT/$name"
  [ -z "$STEPS" ] || steps="--steps $STEPS --trial 0"
  [ -n "$STEPS" ] || [ ! -e "$OUT/pace.json" ] || steps="--steps $(grep -o '"steps": [0-9]*' "$OUT/pace.json" | grep -o '[0-9]*$') --trial 4"
  # shellcheck disable=SC2086 # several options
  CUDA_VISIBLE_DEVICES=$gpu $RUN run "$DIR" --out "$OUT/$name" --seconds "$TRAINING" ${steps:---trial 16} \
    --checkpoint-seconds 100000 $OPTIONS $more --set data.recipe.file_share="$files" \
    || { say "$name failed"; return; }
  [ -e "$OUT/pace.json" ] || cp "$OUT/$name/pace.json" "$OUT/pace.json"
  say "$name trained"
  answers "$gpu" "$name" "$form" & # beside the next arm: decoding leaves most of a GPU idle
}

answers() { # its GPU, name, form
  local gpu=$1 name=$2 form=$3
  # shellcheck disable=SC2086 # several options
  CUDA_VISIBLE_DEVICES=$gpu $RUN answer "$OUT/$name/run/model" "$DIR" --out "$OUT/$name/answers" \
    --only bench public --samples 0 --seconds "${ANSWERING:-100}" $form ${FIRST:+--first $FIRST}
  touch "$OUT/at.$name"
  say "$name done"
  [ ! -d "${TOOLS:-/nowhere}" ] || nice -n 5 python3 -m recipes.rl.loop worth "$OUT/$name/answers" \
    --of "$PROGRAMS" --tools "$TOOLS" --to "$OUT/$name/worth.jsonl"
}

lane() { # its number: every so many arms of the list
  local number=0
  while read -r name data files form; do
    [ $((number++ % ${#GPUS[@]})) -eq "$1" ] || continue
    arm "${GPUS[$1]}" "$name" "$data" "$files" "$form" > "$OUT/$name.log" 2>&1 < /dev/null
  done <<< "$ARMS"
  wait
}
for number in "${!GPUS[@]}"; do lane "$number" & done
wait
touch "$OUT/at.finished"
