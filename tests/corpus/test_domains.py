import pytest

from cass_ray.corpus.domains import Domain, classify, keyword_counts, split_words


def test_words_of_identifiers() -> None:
    assert split_words("rayTrace_RGB2x") == ["ray", "trace", "rgb2", "x"]
    assert split_words("sha256_final HTTPServer") == ["sha256", "final", "http", "server"]


@pytest.mark.parametrize(
    ("source", "filename", "domain"),
    [
        ("int main() {}", "", Domain.GENERAL_COMPUTE),
        ("float *velocity, *force; // gravity", "", Domain.SIMULATION),
        ("void bfs(Edge *edges, Vertex *frontier);", "", Domain.DATA_STRUCTURE),
        ("softmax(logits); relu(x);", "", Domain.MACHINE_LEARNING),
        ("uchar4 pixel; // RGB image", "", Domain.GRAPHICS),
        ("aesEncrypt(cipher, round_key);", "", Domain.CRYPTOGRAPHY),
        ("jacobi_solver(csr_matrix);", "", Domain.SCIENTIFIC_COMPUTING),
        ("int a;", "histogram", Domain.GENERAL_COMPUTE),
        ("int pixel, image;", "nbody", Domain.SIMULATION),
    ],
)
def test_domains(source: str, filename: str, domain: Domain) -> None:
    assert classify(source, filename) is domain


def test_strings_includes_and_runtime_calls_do_not_count() -> None:
    source = '#include <image/pixel.h>\nputs("softmax relu"); cudaArrayTexture(x);'
    assert not keyword_counts(source)


def test_phrases_are_consecutive_words() -> None:
    assert keyword_counts("gameOfLife")[Domain.SIMULATION] == 1
    assert keyword_counts("game of my life")[Domain.SIMULATION] == 0


def test_counts_by_hand() -> None:
    counts = keyword_counts("pixel pixel image; // matrix", "fft")
    assert counts == {Domain.GRAPHICS: 3, Domain.SCIENTIFIC_COMPUTING: 6}
