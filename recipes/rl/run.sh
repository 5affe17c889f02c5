#!/bin/bash
# Reinforcement learning of the model that recipes/small/run.sh trained, on a machine with one or two GPUs.
#
# Here, before (about 3 minutes on two quiet cores; 63 MB in three parts):
#     python -m recipes.judge.tools pack JUDGE
# There, once its parts are in the folder JUDGE and recipes/small/run.sh has made OUT/at.prepared; needs no
# GPU and may run while the supervised run trains (about 2 minutes):
#     recipes/rl/run.sh prepare JUDGE OUT
# There, once OUT/run/model is whole and the GPUs are free; SECONDS are for steps of about 10 s, the
# start (30 s) among them, and the saving of the model (5 s) comes behind them:
#     setsid nohup recipes/rl/run.sh run OUT 480 [OPTION …] > OUT/rl.log 2>&1 &
# and then the held-out programs with both models (about 60 s each):
#     python3 -m recipes.small.model answer OUT/run/model DIR --out OUT/answers --only public
#     python3 -m recipes.small.model answer OUT/run/model_rl DIR --out OUT/answers_rl --only public
#
# OPTIONs are those of `recipes.rl.loop run` (--set optimizer.learning_rate=0.00002). OUT/at.rl_prepared and
# OUT/at.rl_trained appear as each is done, else OUT/at.rl_failed. Taken home are OUT/run/model_rl,
# OUT/rl/metrics.jsonl, summary.json, and for reading OUT/rl/answers.jsonl and questions.jsonl (packed
# in OUT/rl/records.tar.xz).
WHAT=$1
export PYTHONUNBUFFERED=1
RUN="python3 -m recipes.rl.loop"
done_with() { echo "== $SECONDS s: $1"; touch "$OUT/at.$1"; }
failed() { done_with rl_failed; exit 1; }

case $WHAT in
prepare)
  JUDGE=$2 OUT=$3
  export CASS_ALLOW_UNISOLATED=1 # the probe alone is compiled, which is ours
  python3 -m recipes.judge.tools unpack "$JUDGE" --to "$OUT/tools" || failed
  $RUN questions "$OUT" --tools "$OUT/tools" "${@:4}" || failed
  done_with rl_prepared
  ;;
run)
  OUT=$2
  $RUN run "$OUT" --tools "$OUT/tools" --seconds "$3" --without-sandbox "${@:4}" || failed
  tar -C "$OUT/rl" -cJf "$OUT/rl/records.tar.xz" answers.jsonl questions.jsonl
  done_with rl_trained
  ;;
*)
  echo "prepare JUDGE OUT, or run OUT SECONDS" >&2
  exit 2
  ;;
esac
