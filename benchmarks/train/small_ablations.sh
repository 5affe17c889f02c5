#!/bin/bash
# What each part of the data and each format of answers is worth: runs of equal tokens, one a GPU.
#
#     setsid nohup benchmarks/train/small_ablations.sh DIR OUT STEPS SECONDS > OUT.log 2>&1 &
#
# DIR is what `small_model pack` and `small_judge choose` wrote. An arm is left out when the SECONDS
# are over. OUT/ARM/answers and OUT/ARM/run/metrics.jsonl are what `small_judge` and a reader need.
DIR=$1 OUT=$2 STEPS=$3 END=$((SECONDS + $4))
RUN="python3 -m benchmarks.train.small_model"
export PYTHONUNBUFFERED=1
mkdir -p "$OUT"
say() { echo "== $SECONDS s: $*"; }

# Amounts of the kinds of data, and whose tokens an arm takes.
generated="--most 0 --grafted 0"
executed="--most 0 --grafted 0 --drills 0 --ptx 0" # what ran: shipped and generated programs
for data in full generated executed; do
  amounts=${!data}
  # shellcheck disable=SC2086 # several options
  $RUN prepare "$DIR" --out "$OUT/data-$data" $amounts || exit 1
  say "data $data"
done

arm() { # its GPU, name, data, share of whole files
  local gpu=$1 name=$2 data=$3 files=$4
  [ $SECONDS -lt "$END" ] || { say "$name left out"; return; }
  cp -r "$OUT/data-$data" "$OUT/$name"
  CUDA_VISIBLE_DEVICES=$gpu $RUN run "$DIR" --out "$OUT/$name" --steps "$STEPS" --trial 4 \
    --set data.recipe.file_share="$files" || { say "$name failed"; return; }
  for what in bench public; do
    CUDA_VISIBLE_DEVICES=$gpu $RUN answer "$OUT/$name/run/model" "$DIR" --out "$OUT/$name/answers" \
      --only $what --samples 0 --seconds 120
  done
  touch "$OUT/at.$name"
  say "$name done"
}

GPUS=$(nvidia-smi -L | wc -l)
number=0
for settings in "both full 0.3" "generated generated 0.3" "executed executed 0.3" \
  "files full 1" "edits full 0"; do
  read -r name data files <<< "$settings"
  arm $((number++ % GPUS)) "$name" "$data" "$files" > "$OUT/$name.log" 2>&1 &
  [ $((number % GPUS)) -ne 0 ] || wait
done
wait
touch "$OUT/at.finished"
