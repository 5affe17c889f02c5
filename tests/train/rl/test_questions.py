from dataclasses import replace

from cass_ray.train.rl.questions import QuestionChooser
from cass_ray.train.rl.rollouts import EditQuestion
from cass_ray.train.rl.settings import SamplingSettings

QUESTIONS = [EditQuestion(str(number), "") for number in range(10)]


def chooser(**settings):
    return QuestionChooser(QUESTIONS, SamplingSettings(**settings))


def test_all_questions_are_asked_before_one_is_asked_again():
    made = chooser(questions=5)
    first, second = made.choose(0), made.choose(1)
    assert {question.id for question in first + second} == {str(n) for n in range(10)}


def test_mixed_ones_come_back_after_their_rest_until_they_are_alike():
    made = chooser(questions=4, revisited=0.5, rest=1)
    asked = made.choose(0)
    mixed = asked[0]
    for question in asked:
        made.heard(question, [0.0, 1.0] if question is mixed else [1.0, 1.0], 0)
    assert made.mixed == 1
    assert mixed not in made.choose(1)
    assert mixed in made.choose(2)
    made.heard(mixed, [1.0, 1.0], 2)
    assert made.mixed == 0


def test_a_step_asks_different_questions_even_when_there_are_few():
    made = chooser(questions=64)
    for step in range(4):
        asked = made.choose(step)
        assert len({question.id for question in asked}) == len(asked) == 10
        for question in asked:
            made.heard(question, [0.0, 1.0], step)


def test_what_is_heard_of_other_words_is_said_of_the_question():
    def reworded(question, chance):
        return replace(question, id=f"{question.id}~{chance.random()}", of=question.id)

    settings = SamplingSettings(questions=4, revisited=0.5, rest=0)
    made = QuestionChooser(QUESTIONS, settings, reworded=reworded)
    asked = made.choose(0)
    for question in asked:
        made.heard(question, [0.0, float(question is asked[0])], 0)
    assert made.mixed == 1
    again = made.choose(1)
    assert asked[0].of in {question.of for question in again}
    assert not {question.id for question in asked} & {question.id for question in again}


def test_as_many_are_asked_as_have_had_enough_groups_of_different_worth():
    questions = [EditQuestion(f"q{number}", "") for number in range(500)]
    settings = SamplingSettings(questions=16, mixed=20, most_questions=100)
    chooser = QuestionChooser(questions, settings)
    assert chooser.wanted == 40  # half of the groups, as long as nothing is known
    for number in range(2000):  # one group of four is mixed
        chooser.heard(questions[number % 500], [1.0, float(number % 4 != 0)], 0)
    assert 70 <= chooser.wanted <= 90
    assert len(chooser.choose(1)) == chooser.wanted
    for number in range(2000):
        chooser.heard(questions[number % 500], [1.0, 1.0], 0)
    assert chooser.wanted == 100  # not without a bound
    for number in range(2000):
        chooser.heard(questions[number % 500], [1.0, 0.0], 0)
    assert chooser.wanted == 20
