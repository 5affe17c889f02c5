"""SwiGLU inside its products: the kernels' convention on a CPU, themselves on Hopper."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, Qwen2Config
from transformers.models.qwen2.modeling_qwen2 import Qwen2MLP

from cass_ray.llm.pretrained import ModelError
from cass_ray.train.model import activation_checkpoint, gated_mlp, gated_products
from cass_ray.train.model.activation_checkpoint import Keep
from cass_ray.train.settings import LoraSettings, ModelSettings, TrainSettings, ZeroSettings

CPU = torch.device("cpu")


def silu(x: torch.Tensor) -> torch.Tensor:
    return x / (1 + torch.exp(-x))


class Kernels:
    """``quack.gemm_interface``, by its documentation: column 2i is a gate, 2i + 1 its up."""

    calls: list[str]

    def __init__(self) -> None:
        self.calls = []

    def gemm_gated(
        self,
        a: torch.Tensor,
        b: torch.Tensor,
        *,
        activation: str,
        preact_out: torch.Tensor,
        postact_out: torch.Tensor,
        tuned: bool,
    ) -> None:
        assert activation == "swiglu"
        assert a.is_contiguous()
        self.calls.append("forward")
        preact_out.copy_(a @ b)
        postact_out.copy_(silu(preact_out[:, 0::2]) * preact_out[:, 1::2])

    def gemm_dgated(
        self,
        a: torch.Tensor,
        b: torch.Tensor,
        preact: torch.Tensor,
        *,
        activation: str,
        dx_out: torch.Tensor,
        postact_out: torch.Tensor,
        tuned: bool,
    ) -> None:
        assert activation == "swiglu"
        assert a.is_contiguous()
        self.calls.append("backward")
        given, gate, up = a @ b, preact[:, 0::2], preact[:, 1::2]
        share = torch.sigmoid(gate)
        dx_out[:, 0::2] = given * up * share * (1 + gate * (1 - share))
        dx_out[:, 1::2] = given * silu(gate)
        postact_out.copy_(silu(gate) * up)


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Kernels:
    """The package's kernels, stood in for on the CPU."""
    made = Kernels()
    monkeypatch.setattr(gated_products, "_package", lambda: made)
    monkeypatch.setattr(gated_products, "_tile", lambda *_: None)
    monkeypatch.setattr(gated_products, "problem", lambda _: "")
    return made


def make_mlp(hidden: int, inner: int, dtype: torch.dtype, device: torch.device = CPU) -> Any:
    torch.manual_seed(0)
    config = Qwen2Config(hidden_size=hidden, intermediate_size=inner)
    with device:
        return Qwen2MLP(config).to(dtype)


def results(mlp: Any, x: torch.Tensor, given: torch.Tensor) -> dict[str, torch.Tensor]:
    """The MLP's result and all gradients."""
    x = x.detach().clone().requires_grad_()
    made = mlp(x)
    made.backward(given)
    assert x.grad is not None
    gradients = {name: weight.grad for name, weight in mlp.named_parameters()}
    return {"result": made.detach(), "x": x.grad, **gradients}


# --- On the CPU -----------------------------------------------------------------------------------


def test_results_and_gradients_are_the_plain_ones(kernels: Kernels) -> None:
    x, given = torch.randn(2, 1, 7, 16, dtype=torch.float64)
    plain = results(make_mlp(16, 24, torch.float64), x, given)
    fused = make_mlp(16, 24, torch.float64)
    gated_mlp.fuse(fused)
    found = results(fused, x, given)
    assert kernels.calls == ["forward", "backward"]
    assert found.keys() == plain.keys()
    for name, wanted in plain.items():
        torch.testing.assert_close(found[name], wanted)


def test_gradients_are_as_optimizers_take_them(kernels: Kernels) -> None:
    """bitsandbytes reads a gradient as if it were contiguous."""
    mlp = make_mlp(16, 24, torch.float64)
    gated_mlp.fuse(mlp)
    found = results(mlp, *torch.randn(2, 1, 7, 16, dtype=torch.float64))
    assert all(found[f"{name}_proj.weight"].is_contiguous() for name in ("gate", "up", "down"))


def test_gradients_add_up_over_passes(kernels: Kernels) -> None:
    x, given = torch.randn(2, 1, 7, 16, dtype=torch.float64)
    mlp = make_mlp(16, 24, torch.float64)
    gated_mlp.fuse(mlp)
    once = {name: value.clone() for name, value in results(mlp, x, given).items()}
    twice = results(mlp, x, given)
    torch.testing.assert_close(twice["up_proj.weight"], 2 * once["up_proj.weight"])


def test_compiled_layers_have_the_same_gradients(kernels: Kernels) -> None:
    x, given = torch.randn(2, 1, 7, 16, dtype=torch.float64)
    plain = results(make_mlp(16, 24, torch.float64), x, given)
    mlp = make_mlp(16, 24, torch.float64)
    gated_mlp.fuse(mlp)
    mlp.compile(backend="aot_eager", fullgraph=True)
    for name, found in results(mlp, x, given).items():
        torch.testing.assert_close(found, plain[name])


def test_without_gradients_it_is_computed_as_it_was(kernels: Kernels) -> None:
    mlp = make_mlp(16, 24, torch.float64)
    x = torch.randn(1, 7, 16, dtype=torch.float64)
    gated_mlp.fuse(mlp)
    with torch.no_grad():
        found = mlp(x)
    assert kernels.calls == []
    torch.testing.assert_close(found, mlp(x))


def small_model(**sizes: Any) -> Any:
    torch.manual_seed(0)
    config = Qwen2Config(
        **{"hidden_size": 32, "intermediate_size": 64, "hidden_act": "silu"} | sizes,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        vocab_size=128,
    )
    return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)


def test_plain_transformers_load_what_is_saved(kernels: Kernels, tmp_path: Path) -> None:
    model = small_model()
    wanted = model.state_dict()
    assert gated_mlp.use_fused_mlp(model, CPU) == 2
    model.save_pretrained(tmp_path)
    found = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.bfloat16).state_dict()
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], value) for name, value in wanted.items())


@pytest.mark.parametrize(
    ("keep", "again"),
    [(Keep.NOTHING, 2), (Keep.ATTENTION, 2), (Keep.PRODUCTS, 0), (Keep.EVERYTHING, 0)],
)
def test_what_is_kept_is_not_computed_again(kernels: Kernels, keep: Keep, again: int) -> None:
    model = small_model().train()
    gated_mlp.use_fused_mlp(model, CPU)
    layers = list(model.get_decoder().layers)
    activation_checkpoint.apply(layers, [keep] * 2, 64)
    loss = model(torch.arange(20)[None]).logits.float().square().sum()
    assert kernels.calls == ["forward"] * 2
    loss.backward()
    assert kernels.calls.count("forward") == 2 + again
    assert kernels.calls.count("backward") == 2


def test_a_machine_without_a_hopper_gpu_is_refused() -> None:
    with pytest.raises(ModelError, match=r"`model.fused_mlp` needs a Hopper GPU"):
        gated_mlp.use_fused_mlp(small_model(), CPU)


@pytest.mark.parametrize(("capability", "wanted"), [((8, 9), "Hopper"), ((9, 0), "quack-kernels")])
def test_what_lacks_is_named(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], wanted: str
) -> None:
    def missing() -> None:
        raise ImportError("no module named quack")

    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    monkeypatch.setattr(gated_products, "_package", missing)
    assert wanted in gated_products.problem(torch.device("cuda"))


@pytest.mark.parametrize(
    "sizes", [{"hidden_act": "gelu"}, {"intermediate_size": 60}, {"hidden_size": 36}]
)
def test_other_mlps_are_refused(kernels: Kernels, sizes: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="Qwen2ForCausalLM are not SwiGLU"):
        gated_mlp.use_fused_mlp(small_model(**sizes), CPU)


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"fp8": True}, "goes without `fp8`"),
        ({"lora": LoraSettings()}, "goes without `lora`"),
        ({"precision": "fp32"}, "`precision: bf16`"),
    ],
)
def test_settings_that_exclude_it(settings: dict[str, Any], wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted):
        ModelSettings(base="m", fused_mlp=True, **settings)


def test_sharded_weights_exclude_it(tmp_path: Path) -> None:
    values: dict[str, Any] = {"name": "n", "out": tmp_path, "data": {"pairs": ["p"]}}
    values["model"] = {"base": "m", "fused_mlp": True}
    assert TrainSettings(**values, zero=ZeroSettings(stage=2)).model.fused_mlp
    with pytest.raises(ValueError, match=r"`model.fused_mlp` needs whole weights"):
        TrainSettings(**values, zero=ZeroSettings(stage=3))


# --- Tiles ----------------------------------------------------------------------------------------


def test_the_fastest_tile_is_measured_once_for_about_the_same_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[Any] = []
    slow, fast = gated_products.FORWARD[:2]

    def clock(_: torch.device, work: Any) -> float:
        work()
        return 1.0 if ran[-1] is fast else 2.0

    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    monkeypatch.setattr(gated_products, "_milliseconds", clock)
    monkeypatch.setattr(gated_products, "_fastest", {})
    weight = torch.empty(48, 16)

    def choose(rows: int) -> Any:
        return gated_products._tile((slow, fast), torch.empty(rows, 16), weight, ran.append)

    assert choose(1000) is fast
    assert ran.count(slow) == ran.count(fast) > 1
    measured = len(ran)
    assert choose(600) is fast  # 512 to 1,023
    assert len(ran) == measured
    assert choose(1024) is fast
    assert len(ran) == 2 * measured


def test_gpus_after_hopper_take_the_packages_own_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (10, 0))
    tensors = torch.empty(8, 16), torch.empty(48, 16)
    assert gated_products._tile(gated_products.FORWARD, *tensors, lambda _: None) is None
    assert gated_products._options(None) == {"tuned": False}


def test_a_tile_is_told_in_the_packages_words(monkeypatch: pytest.MonkeyPatch) -> None:
    config = SimpleNamespace(GemmConfig=lambda **given: given)
    monkeypatch.setattr(gated_products, "import_module", lambda _: config)
    tile = gated_products.Tile(64, 32, pingpong=True, dynamic=True)
    options = gated_products._options(tile)
    assert options["dynamic_scheduler"]
    assert options["config"]["tile_m"] == 64
    assert options["config"]["tile_n"] == 32
    assert str(tile) == "64x32 pingpong dynamic"


# --- On a GPU -------------------------------------------------------------------------------------

CUDA = torch.device("cuda")
on_hopper = pytest.mark.skipif(
    bool(lacks := gated_products.problem(CUDA if torch.cuda.is_available() else CPU)), reason=lacks
)
SIZES = [(1000, 1536, 8960), (520, 3584, 18944)]
"""Tokens (no multiple of a tile), and sides of Qwen2.5-Coder 1.5B and 7B."""


def error(found: torch.Tensor, truth: torch.Tensor) -> float:
    return float((found.double() - truth).norm() / truth.norm())


@pytest.mark.gpu
@on_hopper
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("tokens", "hidden", "inner"), SIZES)
def test_errors_are_those_of_bf16(tokens: int, hidden: int, inner: int, compiled: bool) -> None:
    """Against float64, no more than a tenth larger than those of the plain module in bf16."""
    plain = make_mlp(hidden, inner, torch.bfloat16, CUDA)
    exact = make_mlp(hidden, inner, torch.float64, CUDA)
    fused = make_mlp(hidden, inner, torch.bfloat16, CUDA)
    exact.load_state_dict(plain.state_dict())
    fused.load_state_dict(plain.state_dict())
    gated_mlp.fuse(fused)
    if compiled:
        fused.compile(dynamic=False)
    x, given = torch.randn(2, 1, tokens, hidden, device=CUDA, dtype=torch.bfloat16)
    truth = results(exact, x.double(), given.double())
    usual, found = results(plain, x, given), results(fused, x, given)
    for name, wanted in truth.items():
        assert 0 < error(found[name], wanted) <= 1.1 * error(usual[name], wanted), name


@pytest.mark.gpu
@on_hopper
@pytest.mark.parametrize("tile", gated_products.FORWARD, ids=str)
def test_every_forward_tile_is_right(monkeypatch: pytest.MonkeyPatch, tile: Any) -> None:
    monkeypatch.setattr(gated_products, "_tile", lambda *_: tile)
    torch.manual_seed(0)
    x = torch.randn(1000, 1536, device=CUDA, dtype=torch.bfloat16)
    weight = torch.randn(4096, 1536, device=CUDA, dtype=torch.bfloat16) / 40
    product, gated = gated_products.multiply_gated(x, weight)
    truth = x.double() @ weight.double().t()
    # Rounding to 8 bits is off by 2^-9 at most.
    assert error(product, truth) < 2**-9
    assert error(gated, silu(truth[:, 0::2]) * truth[:, 1::2]) < 2**-9


@pytest.mark.gpu
@on_hopper
@pytest.mark.parametrize("tile", gated_products.BACKWARD, ids=str)
def test_every_backward_tile_is_right(monkeypatch: pytest.MonkeyPatch, tile: Any) -> None:
    monkeypatch.setattr(gated_products, "_tile", lambda *_: tile)
    torch.manual_seed(0)
    given = torch.randn(1000, 1536, device=CUDA, dtype=torch.bfloat16)
    down = torch.randn(1536, 2048, device=CUDA, dtype=torch.bfloat16) / 40
    product = torch.randn(1000, 4096, device=CUDA, dtype=torch.bfloat16)
    exact = product.double().requires_grad_()
    truth = silu(exact[:, 0::2]) * exact[:, 1::2]
    (truth @ down.double().t()).backward(given.double())
    gradient, gated = gated_products.multiply_gated_backward(given, down, product)
    assert error(gated, truth.detach()) < 2**-9
    assert exact.grad is not None
    assert error(gradient, exact.grad) < 2**-9
