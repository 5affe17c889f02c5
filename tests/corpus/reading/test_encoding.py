import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.corpus.reading.encoding import BinaryFileError, decode

TEXT = "// größe 数\n__global__ void k() {}\n"


@given(
    st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff"))
)
def test_utf8_is_left_alone(text: str) -> None:
    decoded = decode(text.encode())
    assert decoded.text == text
    assert not decoded.repaired


@pytest.mark.parametrize(
    ("codec", "encoding"),
    [
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-32", "utf-32"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
    ],
)
def test_unicode_encodings_are_repaired(codec: str, encoding: str) -> None:
    decoded = decode(TEXT.encode(codec))
    assert decoded.text == TEXT
    assert (decoded.encoding, decoded.repaired) == (encoding, True)


@pytest.mark.parametrize("codec", ["cp1252", "gb18030"])
def test_legacy_encodings_keep_the_code(codec: str) -> None:
    comment = "Größe der Blöcke, für jeden Faden" if codec == "cp1252" else "计算每个线程的索引"
    text = f"// {comment}\n__global__ void k(float *a) {{ a[0] = 1; }}\n"
    decoded = decode(text.encode(codec))
    assert decoded.repaired
    assert decoded.text.splitlines()[1] == text.splitlines()[1]


def test_a_backslash_as_second_byte_does_not_splice_lines() -> None:
    # In Shift JIS the character 表 ends in the byte of a backslash.
    text = "// 計算結果の表\n__global__ void k() {}\n" * 4
    assert decode(text.encode("shift_jis")).text.count("\n") == 8


@pytest.mark.parametrize(
    "data", [b"\x7fELF\x02\x01\x00\x00", b"int a;\0", bytes(range(1, 32)) * 10, b"\xff\xfe\x00"]
)
def test_binary_files(data: bytes) -> None:
    with pytest.raises(BinaryFileError):
        decode(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_refused(data: bytes) -> None:
    try:
        decode(data).text.encode("utf-8")
    except BinaryFileError:
        assert (
            b"\0" in data
            or any(byte < 32 or byte == 127 for byte in data)
            or data[:2]
            in (
                b"\xff\xfe",
                b"\xfe\xff",
            )
        )
