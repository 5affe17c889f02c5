#!/bin/bash
# Everything of a run on a machine with GPUs within so many seconds: pairs and tokens, training on
# all of its GPUs, answers, an int8 copy of the model.
#
#     setsid nohup recipes/small/run.sh DIR OUT SECONDS [OPTION …] > OUT.log 2>&1 &
#
# DIR is what `recipes.small.model pack` and `recipes.judge.answers choose` wrote; OPTIONs are those of `small_model
# run`. OUT/at.NAME appears as each part is done: prepared, trained, int8, answered; or failed.
# Answers take the last ANSWERING seconds (340). Training waits for the file WAIT_FOR, if it is set
# (a base model that is still on its way).
DIR=$1 OUT=$2 END=$((SECONDS + $3))
MORE=("${@:4}")
ANSWERING=${ANSWERING:-340}
RUN="python3 -m recipes.small.model"
export PYTHONUNBUFFERED=1
mkdir -p "$OUT"
done_with() { echo "== $SECONDS s: $1"; touch "$OUT/at.$1"; }
left() { echo $((END - SECONDS - ${1:-0})); }

train() { # on so many GPUs
  python3 -m torch.distributed.run --nproc-per-node "$1" -m recipes.small.model run \
    "$DIR" --out "$OUT" --seconds "$(left "$ANSWERING")" --share 0.965 \
    --set batch.global_batch_size="$1" --set workers.number="$1" "${MORE[@]}"
}

answer() { # on which GPU, what
  CUDA_VISIBLE_DEVICES=$1 $RUN answer "$OUT/run/model" "$DIR" --out "$OUT/answers" \
    --seconds "$(left)" "${@:2}"
}

$RUN prepare "$DIR" --out "$OUT" "${MORE[@]}" || { done_with failed; exit 1; }
done_with prepared
until [ -z "$WAIT_FOR" ] || [ -e "$WAIT_FOR" ]; do sleep 1; done
GPUS=$(nvidia-smi -L | wc -l)
if ! train "$GPUS"; then
  echo "== again, on one GPU, after the newest checkpoint"
  rm -rf "$OUT/trial"
  if ! train 1; then
    echo "== again, from the beginning"
    rm -rf "$OUT/trial" "$OUT/run/checkpoints"
    train 1 || { done_with failed; exit 1; }
  fi
fi
done_with trained
(python3 -m cass_ray.llm.int8_weights "$OUT/run/model" "$OUT/int8" && done_with int8) &
if [ "$GPUS" -gt 1 ]; then
  answer 1 --only back &
  answer 0 --only bench
  answer 0 --only public
else
  answer 0
fi
wait
done_with answered
