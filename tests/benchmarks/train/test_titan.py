"""What torchtitan is given and what is read of its log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.train.kernel_times import kind_of
from benchmarks.train.shapes import WINDOW
from benchmarks.train.titan import ROWS, figures, read_log, write_data

# A line of torchtitan 0.2.2 (components/metrics.py), with its colors.
LINE = (
    "[titan] 2026-11-29 - root - INFO - \x1b[31mstep: {step:2}  \x1b[32mloss: 12.03  "
    "\x1b[38;2;180;60;0mgrad_norm:  1.5  \x1b[36mmemory: 61.50GiB(43.99%)  "
    "\x1b[34mtps: {rate:,}  \x1b[36mtflops: 300.12  \x1b[35mmfu: 30.35%\x1b[39m\n"
)


@pytest.mark.parametrize(("step", "rate"), [(1, 512), (9, 9_999), (10, 31_250), (100, 1_000_000)])
def test_a_step_is_read_whatever_its_colors(step: int, rate: int) -> None:
    text = "noise step: 3\n" + LINE.format(step=step, rate=rate) + "Training completed\n"
    assert read_log(text) == [(step, 61.5, float(rate))]


def test_a_log_without_steps_has_none() -> None:
    assert read_log("step: 3 loss\ntps: 5\n") == []


def test_operations_are_those_of_the_published_shape() -> None:
    # Qwen2.5-Coder-1.5B by hand: 28 layers of 1536 x (2 x 1536 + 2 x 256 + 3 x 8960) weights, a
    # head of 151936 x 1536, attention over a window (half a square, forward and backward: 6).
    body, head, attention = 1_310_195_712, 233_373_696, 28 * 1536 * WINDOW
    row = figures("1.5b", [(3, 60.0, 20_000.0), (4, 61.0, 20_000.0)])
    assert row["tokens_per_second"] == pytest.approx(20_000)
    assert row["mfu"] == pytest.approx(6 * (body + head + attention) * 20_000 / 990e12)
    assert row["peak_gib"] == 61.0


def test_steps_count_by_their_time() -> None:
    assert figures("7b", [(3, 1.0, 10_000.0), (4, 1.0, 30_000.0)])["tokens_per_second"] == (
        pytest.approx(15_000)
    )


def test_every_word_is_a_token(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    write_data(tmp_path / "data")
    tokenizer = Tokenizer.from_file(str(tmp_path / "data/model/tokenizer.json"))
    lines = (tmp_path / "data/text/train.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    for text in texts[:5]:
        ids = tokenizer.encode(text).ids
        assert ids == [int(word[1:]) for word in text.split()]
    assert len(texts) >= 5 * ROWS


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_7", "attention"),
        ("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", "attention"),
        ("nvjet_sm90_tst_256x128_64x4_2x1_v_bz_coopA_NNT", "products"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128", "products"),
        ("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3", "compiled"),
        ("Memcpy HtoD (Pinned -> Device)", "rest"),
    ],
)
def test_kernels_have_the_kind_of_what_they_compute(name: str, kind: str) -> None:
    assert kind_of(name) == kind
