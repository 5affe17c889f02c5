"""Known right answers in groups that have none: advantages, ratios and shares by hand."""

from __future__ import annotations

import json
import math
import random

import pytest
import torch

from cass_ray.execute.rewards.verdicts import Outcome, RewardVerdict, undecided
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.rl.guidance import guided, reference_answer, right_answer
from cass_ray.train.rl.learner import JudgedGroup, Learner, PolicyModel
from cass_ray.train.rl.questions import QuestionChooser
from cass_ray.train.rl.rollouts import EditQuestion, Rollout
from cass_ray.train.rl.settings import GuidanceSettings
from cass_ray.train.rl.trainer import RlTrainer, fenced
from tests.train.rl.runs import SAMPLING, SETTINGS, load, make_rollouts
from tests.train.rl.test_trainer import KeepsGradients, learner_of

ASKED = EditQuestion("q", "int a;\nint b;\n", "int a;\nlong b;\n")


@pytest.fixture(scope="module")
def form(folder):
    return load(folder)[1]


def drawn(folder, question=ASKED, number=3):
    [group] = make_rollouts(folder).rollouts([question])
    return group[:number]


def worth(*rewards):
    return [RewardVerdict(reward=each, outcome=Outcome.WRONG) for each in rewards]


def test_the_known_answer_makes_the_known_translation(form):
    made = reference_answer(form, 99, ASKED)
    assert made is not None
    assert made.code == ASKED.translation
    assert made.is_reference
    assert form.read_edits(ASKED.lines, made.tokens) == ASKED.translation
    assert made.tokens[0] == form.first_mark + 1  # the second line's
    assert made.tokens[-1] == form.end


def test_there_is_none_where_nothing_is_known_or_it_is_too_long(form):
    made = reference_answer(form, 99, ASKED)
    assert reference_answer(form, len(made.tokens), ASKED) is not None
    assert reference_answer(form, len(made.tokens) - 1, ASKED) is None
    assert reference_answer(form, 99, EditQuestion("q", "int a;\nint b;\n")) is None
    assert reference_answer(form, 99, EditQuestion("q", ASKED.cuda, ASKED.cuda)) is None


@pytest.mark.parametrize(
    ("rewards", "of_known", "is_guided"),
    [
        ([0.0, 0.0, 0.0], 1.0, True),
        ([0.1, 0.1, 0.1], 1.0, True),
        ([0.0, 1.0, 0.0], 1.0, False),  # one is right
        ([1.0, 1.0, 1.0], 1.0, False),
        ([0.0, 0.3, 0.0], 1.0, False),  # there is something to be learned already
        ([0.3, 0.3, 0.3], 0.3, False),  # the judge does not know the known one to be right
        ([0.0, None, 0.0], 1.0, True),
        ([None, None, None], 1.0, False),
        ([0.0, 0.0, 0.0], None, False),
    ],
)
def test_only_a_group_without_a_right_answer_is_guided(folder, form, rewards, of_known, is_guided):
    def judge(answers):
        assert [each.is_reference for each in answers] == [True]
        return worth(of_known) if of_known is not None else [undecided("load")]

    made = right_answer(
        drawn(folder),
        worth(*rewards),
        lambda question: reference_answer(form, 99, question),
        judge,
    )
    assert (made is not None) is is_guided


def group_of(folder, *rewards):
    return JudgedGroup(drawn(folder, number=len(rewards)), list(rewards))


@pytest.mark.parametrize(
    ("mixed", "wrong", "most", "number"),
    [
        (6, 5, 0.25, 2),  # 2 of 8
        (6, 1, 0.25, 1),
        (2, 5, 0.25, 0),  # 1 of 3 would be a third
        (0, 5, 0.25, 0),
        (3, 5, 0.5, 3),
    ],
)
def test_at_most_a_share_of_the_groups_that_teach_is_guided(
    folder, form, mixed, wrong, most, number
):
    groups = [group_of(folder, 1.0, 0.0)] * mixed + [group_of(folder, 0.0, 0.0)] * wrong
    known = [None] * mixed + [reference_answer(form, 99, ASKED)] * wrong
    made, questions = guided(groups, known, most, random.Random(0))
    assert questions == [ASKED] * number
    changed = [group for group in made if any(each.is_reference for each in group.rollouts)]
    assert len(changed) == number
    assert sum(group.is_mixed for group in made) == mixed + number
    for group in changed:
        assert list(group.rewards) == [0.0, 1.0]
        assert [each.is_reference for each in group.rollouts] == [False, True]


def teaching(folder, form, share=False):
    """A learner that keeps its gradients, and a group of four whose last answer is the known
    one."""
    settings = SETTINGS.model_copy(update={"share_questions": share})
    model, _ = load(folder)
    policy = PolicyModel(model, settings, form.end)
    context = DistributedContext(0, 1, torch.device("cpu"))
    return policy, Learner(policy, KeepsGradients(policy), form, settings, context)


def a_guided_group(folder, form):
    answers = drawn(folder, number=4)
    groups, _ = guided(
        [JudgedGroup(answers, [0.0] * 4), *[JudgedGroup(answers, [1.0, 0.0, 0.0, 0.0])] * 3],
        [reference_answer(form, 99, ASKED), None, None, None],
        0.25,
        random.Random(0),
    )
    return groups[0]


def test_advantages_are_those_of_the_group_with_the_known_answer(folder, form):
    """Rewards 0, 0, 0, 1: mean 1/4, deviation sqrt(3)/4; the right one 3/sqrt(3), the others
    -1/sqrt(3)."""
    _, learner = teaching(folder, form)
    rows = learner._rows([a_guided_group(folder, form)])
    found = {rollout.is_reference: advantage for rollout, advantage, _ in rows}
    assert found[True] == pytest.approx(math.sqrt(3), rel=1e-4)
    assert found[False] == pytest.approx(-1 / math.sqrt(3), rel=1e-4)


@pytest.mark.parametrize("share", [False, True])
def test_the_known_answer_has_ratio_one_and_the_gradient_of_its_likelihood(folder, form, share):
    """Alone, with advantage a and weight w: the loss is -a w for each token, the gradient that of
    -a w log p, computed by transformers' own forward pass."""
    policy, learner = teaching(folder, form, share)
    answer = reference_answer(form, 99, ASKED)
    batch = learner._batch([[(answer, 1.5, 0.25)]])
    assert batch.known.all()
    loss = policy(batch)
    assert loss.item() == pytest.approx(-1.5 * 0.25 * len(answer.tokens))
    assert float(policy.seen["clipped"]) == 0
    assert float(policy.seen["divergence"]) == 0
    loss.backward()

    model, _ = load(folder)
    question = form.edit_question(ASKED.lines)
    logits = model(input_ids=torch.tensor([question + answer.tokens])).logits[0].float()
    logits = logits[len(question) - 1 : -1] / SETTINGS.sampling.temperature
    lines, before, first = len(ASKED.lines), -1, form.first_mark
    for place, token in enumerate(answer.tokens):  # what could not come there
        for other in range(logits.shape[1]):
            line = form.line_of(other)
            if line is not None and not before < line < lines:
                logits[place, other] = -math.inf
            if line is None and before < 0 and other != form.end:
                logits[place, other] = -math.inf
        before = token - first if form.line_of(token) is not None else before
    chances = logits.log_softmax(-1)[range(len(answer.tokens)), answer.tokens]
    (-1.5 * 0.25 * chances.sum()).backward()
    wanted = {f"model.{name}": item.grad for name, item in model.named_parameters()}
    for name, item in policy.named_parameters():
        torch.testing.assert_close(item.grad, wanted[name], rtol=1e-3, atol=1e-6)


def test_drawn_answers_beside_it_keep_their_ratios(folder, form):
    """Log-probabilities when they were drawn that are lower by ln 2: the ratio is 2, and where the
    advantage is negative nothing is clipped."""
    policy, learner = teaching(folder, form)
    [own, *_] = drawn(folder)
    known = reference_answer(form, 99, ASKED)
    older = Rollout(own.question, own.tokens, [c - math.log(2) for c in own.log_probs], "", None)
    loss = policy(learner._batch([[(known, 1.0, 0.5)], [(older, -1.0, 0.5)]]))
    wanted = -0.5 * len(known.tokens) + 0.5 * 2 * len(own.tokens)
    assert loss.item() == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("tokens", [0, 60])
def test_rows_that_share_a_question_teach_the_same_with_a_known_answer(folder, form, tokens):
    gradients = []
    for share in (False, True):
        policy, learner = teaching(folder, form, share)
        learner._settings = learner._settings.model_copy(update={"shared_tokens": tokens})
        learner.step([a_guided_group(folder, form)])
        gradients.append({name: item.grad for name, item in policy.named_parameters()})
    assert max(float(gradient.abs().max()) for gradient in gradients[0].values()) > 1e-3
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, rtol=1e-3, atol=1e-6)


class OnlyTheTranslation:
    """Rewards the known translation, and of the other question no edit at all."""

    def rewards(self, items):
        right = {ASKED.cuda: ASKED.translation, OTHER.cuda: OTHER.cuda}
        return [
            RewardVerdict(
                reward=float(item.answer == fenced(right[item.question])), outcome=Outcome.RIGHT
            )
            for item in items
        ]


OTHER = EditQuestion("other", "int c;\nint d;\n", "int c;\nlong d;\n")


def run(folder, form, out, guidance):
    settings = SETTINGS.model_copy(update={"guidance": guidance, "steps": 4})
    trainer = RlTrainer(
        settings,
        learner_of(folder, settings),
        make_rollouts(folder),
        OnlyTheTranslation(),
        QuestionChooser([ASKED, OTHER], SAMPLING),
        out,
        say=lambda _: None,
        reference=lambda question: reference_answer(form, 99, question),
    )
    trainer.run()
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    path = out / "guided.jsonl"
    kept = path.read_text().splitlines() if path.exists() else []
    return rows, [json.loads(line) for line in kept]


def test_a_run_is_guided_for_as_many_steps_as_it_is_told(folder, form, tmp_path):
    """Three tokens are drawn at most, the known answer has more: no group of it has a right one."""
    guidance = GuidanceSettings(kind="reference", most=0.5, steps=2)
    rows, kept = run(folder, form, tmp_path, guidance)
    assert [row["guided"] for row in rows] == [1, 1, 0, 0]
    assert [row["groups"] for row in rows][:2] == [2, 2]  # the other question's teaches too
    assert kept == [{"step": 0, "question": "q"}, {"step": 1, "question": "q"}]
    # What was drawn is what is counted: nothing of it was right.
    assert all(row["reward"] < 0.5 for row in rows)


def test_a_run_is_not_guided_unless_it_is_told(folder, form, tmp_path):
    rows, kept = run(folder, form, tmp_path, GuidanceSettings())
    assert [row["guided"] for row in rows] == [0] * 4
    assert kept == []
