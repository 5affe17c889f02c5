import os
import subprocess
import sys

import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

from cass_ray.llm.batch_decode import BatchDecoder, DecodeState, EditMarks

END = 2
SIZES = {
    "vocab_size": 300,
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "tie_word_embeddings": True,
}


ROPE = {"rope_type": "default", "rope_theta": 1e5}


def random_model(config):
    torch.manual_seed(0)
    made = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if parameter.ndim == 2 or name.endswith("bias"):
                parameter.normal_(std=0.3)
    return made


@pytest.fixture(scope="module")
def model():
    return random_model(Qwen3Config(head_dim=16, rope_parameters=ROPE, **SIZES))


def generated(model, question: list[int], most: int) -> list[int]:
    ids = torch.tensor([question])
    made = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=most,
        do_sample=False,
        eos_token_id=END,
        pad_token_id=0,
    )
    return made[0, len(question) :].tolist()


def test_a_qwen2_answers_as_in_transformers():
    """It has biases and no norms of the heads; here no head of the embedding's weights either."""
    sizes = SIZES | {"hidden_size": 64, "tie_word_embeddings": False}
    model = random_model(Qwen2Config(rope_parameters=ROPE, **sizes))
    questions = [torch.randint(3, 300, (size,)).tolist() for size in (11, 4)]

    answers = BatchDecoder(model)(questions, 12, [0.0] * 2, END)

    assert answers == [generated(model, question, 12) for question in questions]


def test_greedy_answers_are_those_of_transformers(model):
    questions = [torch.randint(3, 300, (size,)).tolist() for size in (5, 17, 9, 2)]
    questions.append(questions[0])

    answers = BatchDecoder(model)(questions, 12, [0.0] * 5, END)

    assert answers == [generated(model, question, 12) for question in questions]


def test_nothing_follows_the_end(model):
    question = torch.randint(3, 300, (8,)).tolist()
    answer = generated(model, question, 6)
    end = answer[2]

    [made] = BatchDecoder(model)([question], 6, [0.0], end)

    assert made == answer[: answer.index(end) + 1]


def test_sampling_at_a_low_temperature_is_greedy(model):
    question = torch.randint(3, 300, (8,)).tolist()

    cold, greedy = BatchDecoder(model)([question] * 2, 6, [1e-3, 0.0], END)

    assert cold == greedy


def test_another_family_is_refused():
    config = LlamaConfig(**SIZES)
    with pytest.raises(ValueError, match="not a llama"):
        BatchDecoder(AutoModelForCausalLM.from_config(config))


FIRST_MARK, MARKS = 100, 50
INTERPRETED = """
import torch
from cass_ray.llm.decode_attention import attend_cached
torch.manual_seed(0)
for groups, places in ((2, [0, 600, 1099]), (1, [9000])):  # 18 parts: put together in two goes
    query = torch.randn(len(places), groups, 3, 32)
    keys, values = torch.randn(2, len(places), groups, places[-1] + 1, 32).unbind(0)
    out = attend_cached(query, keys, values, torch.tensor(places))
    for row, last in enumerate(places):
        seen = [tensor[row, :, : last + 1] for tensor in (keys, values)]
        right = torch.nn.functional.scaled_dot_product_attention(query[row], *seen)
        torch.testing.assert_close(out[row], right, rtol=1e-5, atol=1e-6)
"""


def test_edits_name_lines_of_the_question_in_order(model):
    questions = [torch.randint(3, 300, (8,)).tolist() for _ in range(24)]
    lines: list[int | None] = [5] * 23 + [None]

    answers = BatchDecoder(model)(
        questions, 40, [1.5] * 24, END, edits=EditMarks(FIRST_MARK, MARKS, lines)
    )

    marks = [[t - FIRST_MARK for t in a if 0 <= t - FIRST_MARK < MARKS] for a in answers]
    assert any(len(numbers) > 1 for numbers in marks)
    assert not marks[-1]
    for answer, numbers in zip(answers[:-1], marks, strict=False):
        assert answer[0] == END or answer[0] - FIRST_MARK == numbers[0]
        assert numbers == sorted(set(numbers) & set(range(5)))


def test_the_kernel_attends_like_torch():
    pytest.importorskip("triton")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}  # read when Triton is imported
    subprocess.run([sys.executable, "-c", INTERPRETED], env=environment, check=True)


def test_an_answer_that_only_repeats_itself_is_cut(model):
    questions = [[5], [5]]
    state = DecodeState(BatchDecoder(model), questions, 700, [0.0, 0.0], END)
    line = torch.arange(3, 103)
    state.out[0, :640] = line.repeat(7)[:640]
    state.out[1, :640] = line.repeat(7)[:640]
    state.out[1, 300] = 299  # one other token, within what is looked at

    state.number.fill_(480 + 100)
    state.cut_repeats()
    assert state.done.tolist() == [False, False]  # not long enough yet
    state.number.fill_(640)
    state.cut_repeats()
    assert state.done.tolist() == [True, False]
