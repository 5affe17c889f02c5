from cass_ray.train.rl.request import question_of, questions_of
from tests.format_model import PROGRAM, right_answer, translated
from tests.train.rl.runs import load


def test_a_program_that_fits_is_asked(folder):
    _, form = load(folder)
    size = len(form.edit_question(PROGRAM.split("\n")))
    answer = len(right_answer(form, whole_file=False))

    def asked(longest, longest_answer, cuda=PROGRAM, hip=None):
        return question_of("p", cuda, hip or translated(), form, longest, longest_answer)

    made = asked(size, answer)
    assert made is not None
    assert (made.cuda, made.translation) == (PROGRAM, translated())
    assert asked(size - 1, answer) is None
    assert asked(size, answer - 1) is None
    assert asked(size, answer, hip=PROGRAM) is None  # nothing is to be edited
    assert asked(size, answer, cuda=PROGRAM.replace("__global__ ", "")) is None


def test_what_evaluation_keeps_is_not_asked(folder):
    _, form = load(folder)
    rows = [{"id": str(n), "cuda_source": PROGRAM, "hip_source": translated()} for n in range(40)]
    some = {question.id for question in questions_of(rows, form, 2000, 500, 0.5)}
    assert 0 < len(some) < 40
    assert not list(questions_of(rows, form, 2000, 500, 0.999999))
    assert len(list(questions_of(rows, form, 2000, 500, 0.0))) == 40
