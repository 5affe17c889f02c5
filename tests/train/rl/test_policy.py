"""The policy's log-probabilities, against transformers' forward pass with masks applied by hand."""

import pytest
import torch
from transformers import AutoModelForCausalLM, Qwen3Config

from cass_ray.llm.batch_decode import BatchDecoder, EditMarks
from cass_ray.train.rl.policy import AnswerBatch, answer_scores

END, FIRST, MARKS = 2, 100, 50


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=160,
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=128,
        tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 1e5},
    )
    made = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.ndim == 2:
                parameter.normal_(std=0.3)
    return made


def by_hand(model, question, answer, temperature, lines):
    """Log-probabilities token by token; what is impossible is written out."""
    found, line = [], -1
    for number, token in enumerate(answer):
        ids = torch.tensor([question + answer[:number]])
        with torch.no_grad():
            logits = model(input_ids=ids).logits[0, -1].double() / temperature
        for other in range(len(logits)):
            is_mark = FIRST <= other < FIRST + MARKS
            if lines is None:
                impossible = is_mark
            elif is_mark:
                impossible = not line < other - FIRST < lines
            else:
                impossible = line < 0 and other != END
            if impossible:
                logits[other] = -torch.inf
        found.append(logits.log_softmax(0)[token].item())
        if FIRST <= token < FIRST + MARKS:
            line = token - FIRST
    return found


def test_masks_and_temperature_are_those_of_the_decoder(model):
    questions = [[5, 9, 20, 33, 7], [11, 12, 13], [40, 41, 42, 43]]
    answers = [[FIRST + 1, 30, FIRST + 3, 31, END], [END], [50, 51]]
    lines: list[int | None] = [5, 4, None]
    batch = AnswerBatch.of(questions, answers, "cpu")
    scores = answer_scores(
        model, batch, temperature=0.7, end=END, edits=EditMarks(FIRST, MARKS, lines)
    )
    wanted = [
        chance
        for question, answer, number in zip(questions, answers, lines, strict=True)
        for chance in by_hand(model, question, answer, 0.7, number)
    ]
    torch.testing.assert_close(scores.log_probs, torch.tensor(wanted), rtol=1e-4, atol=1e-4)
    assert (scores.entropy >= 0).all()


def test_answers_that_share_their_question_score_as_if_each_stood_alone(model):
    questions = [[5, 9, 20, 33, 7], [11, 12, 13]]
    answers = [
        [[FIRST + 1, 30, FIRST + 3, 31, END], [END], [FIRST + 1, 44, 45]],
        [[FIRST + 2, 60, END], [FIRST, 61, 62, 63, END]],
    ]
    alone = [(question, own) for question, of in zip(questions, answers, strict=True) for own in of]
    edits = EditMarks(FIRST, MARKS, [5, 5, 5, 4, 4])
    found, wanted = (
        answer_scores(model, batch, temperature=0.7, end=END, edits=edits)
        for batch in (
            AnswerBatch.sharing(questions, answers, "cpu"),
            AnswerBatch.of(*zip(*alone, strict=True), "cpu"),
        )
    )
    assert len(found.log_probs) == 17
    torch.testing.assert_close(found.log_probs, wanted.log_probs, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found.entropy, wanted.entropy, rtol=1e-5, atol=1e-5)


def test_without_marks_it_is_the_model_itself(model):
    question, answer = [5, 9, 20], [30, 31, FIRST + 4, END]
    batch = AnswerBatch.of([question], [answer], "cpu")
    scores = answer_scores(model, batch, temperature=1.0, end=END)
    logits = model(input_ids=torch.tensor([question + answer])).logits[0, 2:-1].detach()
    wanted = logits.log_softmax(-1)[range(4), answer]
    torch.testing.assert_close(scores.log_probs, wanted, rtol=1e-4, atol=1e-5)


def test_what_the_decoder_drew_has_ratio_one(model):
    questions = [torch.randint(3, 90, (size,)).tolist() for size in (4, 9, 6, 6)]
    edits = EditMarks(FIRST, MARKS, [5, 3, 8, 8])
    torch.manual_seed(3)
    drawn = BatchDecoder(model).sample(questions, 24, [1.3] * 4, END, edits=edits)
    batch = AnswerBatch.of(questions, [each.tokens for each in drawn], "cpu")
    scores = answer_scores(model, batch, temperature=1.3, end=END, edits=edits)
    old = torch.tensor([chance for each in drawn for chance in each.log_probs])
    assert len(old) > 24
    torch.testing.assert_close(
        (scores.log_probs - old).exp(), torch.ones(len(old)), atol=1e-3, rtol=0
    )


def test_the_entropy_of_a_flat_distribution_is_its_logarithm(model):
    class Flat:
        def get_decoder(self):
            return model.get_decoder()

        def get_output_embeddings(self):
            return lambda hidden: torch.zeros(len(hidden), 160)

    batch = AnswerBatch.of([[5]], [[FIRST, 7]], "cpu")
    scores = answer_scores(
        Flat(), batch, temperature=1.0, end=END, edits=EditMarks(FIRST, MARKS, [3])
    )
    # First: three marks and the end. Then: two marks and the 110 other tokens.
    torch.testing.assert_close(scores.entropy, torch.tensor([4.0, 112.0]).log())
