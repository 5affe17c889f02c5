import pytest
import torch
from transformers import AutoModelForCausalLM, Qwen2Config, Qwen3Config

from cass_ray.llm.batch_decode import BatchDecoder

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


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = Qwen3Config(head_dim=16, rope_parameters={"rope_type": "default", "rope_theta": 1e5},
                         **SIZES)  # fmt: skip
    made = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.ndim == 2:
                parameter.normal_(std=0.3)
    return made


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
    config = Qwen2Config(**SIZES)
    with pytest.raises(ValueError, match="not a qwen2"):
        BatchDecoder(AutoModelForCausalLM.from_config(config))
