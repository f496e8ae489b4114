"""Files as they are not meant to be: cut, changed, longer, strange, or not there."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs import verify as verifier
from libs.rules.rule_sets import RULE_SETS
from libs.verify import MISMATCH, NO_FILE, NO_KEYS, OK, main, verify
from libs.wire.heads import key_file
from opolyx.record.v1 import event_pb2, record_pb2
from tests.support.forging import KEY, evidence
from tests.support.repository import ROOT

MATCH = evidence(records_max=12)
EXPORT = MATCH.export()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("exports")
    (folder / "keys.json").write_text(key_file([KEY]))
    return folder


def code_of(folder: Path, data: bytes, *, with_key: bool = False) -> int:
    path = folder / "match.opolyx"
    path.write_bytes(data)
    return verify(path, folder / "keys.json" if with_key else None).code


def said_of(folder: Path, data: bytes) -> str:
    path = folder / "match.opolyx"
    path.write_bytes(data)
    return verify(path).lines[0]


@given(st.integers(0, len(EXPORT) - 1), st.integers(1, 255))
@settings(max_examples=300)
def test_a_changed_byte_is_found(folder: Path, at: int, by: int) -> None:
    changed = bytearray(EXPORT)
    changed[at] ^= by

    assert code_of(folder, bytes(changed)) == MISMATCH


@given(st.integers(0, len(EXPORT) - 1), st.integers(1, 300))
@settings(max_examples=150)
def test_a_piece_cut_out_is_found(folder: Path, at: int, size: int) -> None:
    assert code_of(folder, EXPORT[:at] + EXPORT[at + size :]) == MISMATCH


@given(st.integers(0, len(EXPORT)), st.binary(min_size=1, max_size=9))
@settings(max_examples=150)
def test_bytes_put_in_are_found(folder: Path, at: int, more: bytes) -> None:
    longer = EXPORT[:at] + more + EXPORT[at:]
    # A run of equal bytes may be made longer in several places; a file made the same is no forgery.
    assert code_of(folder, longer) == MISMATCH


@given(st.integers(0, len(EXPORT) - 1))
@settings(max_examples=150)
def test_a_missing_end_is_named(folder: Path, size: int) -> None:
    whole = EXPORT[:size].count(b"\n")
    said = said_of(folder, EXPORT[:size])

    if whole > 0:
        records = min(whole - 1, len(MATCH.records))
        assert said == f"mismatch in line {whole + 1}: the file ends after record {records}"
    else:
        assert said.startswith("mismatch in line 1: the file ")


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_no_export(folder: Path, data: bytes) -> None:
    assert code_of(folder, data) == MISMATCH


ID = MATCH.match_id
HEADER = f'{{"format":"opolyx/export/1","match_id":"{ID}","records":'


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\n" * 1_000,
        b"\x00" * 2_000_000,
        b"{" * 100_000 + b"\n",
        EXPORT.replace(b"\n", b"\r\n"),
        EXPORT + b"\n",
        EXPORT * 2,
        b"\xef\xbb\xbf" + EXPORT,
        EXPORT.decode("ascii").encode("utf-16"),
        EXPORT.upper(),
        EXPORT.replace(b" ", b"  "),
        EXPORT.replace(b'":', b'": '),
        f"{HEADER}0}}\n".encode(),
        f"{HEADER}{'9' * 19}}}\n".encode(),
        f"{HEADER}{'9' * 10_000}}}\n".encode(),
        f"{HEADER}-1}}\n".encode(),
        f"{HEADER}1e3}}\n".encode(),
        f"{HEADER}1}}\n{'9' * 19} {'9' * 19} {'0' * 64} 00\n".encode(),
        f"{HEADER}1}}\n1 1 {'0' * 64} 0\n".encode(),
        f"{HEADER}1}}\n1 1 {'0' * 64} \n".encode(),
        b"{}\n",
        "\u0661\n".encode(),
    ],
    ids=lambda data: f"{data[:12]!r}-{len(data)}",
)
def test_strange_files_are_told_without_a_word_of_python(folder: Path, data: bytes) -> None:
    assert code_of(folder, data) == MISMATCH
    assert code_of(folder, data, with_key=True) == MISMATCH
    assert said_of(folder, data).startswith("mismatch in line ")


def test_a_line_that_never_ends_is_not_read_to_its_end(folder: Path) -> None:
    head = EXPORT[: EXPORT.index(b"\n") + 1]

    assert "longer than any can be" in said_of(folder, head + b"1" * 3_000_000)


@pytest.mark.parametrize("name", ["missing", "", "missing/deeper", "a\0b", "."])
def test_without_a_file_it_says_so(folder: Path, name: str) -> None:
    assert verify(f"{folder}/{name}").code == NO_FILE
    assert verify(f"{folder}/{name}").lines[0].startswith("no such file")


class TestKeyFiles:
    @pytest.mark.parametrize(
        "text",
        [
            b"",
            b"{}",
            b"[]",
            b"null",
            b'{"keys":null}',
            b'{"keys":[{}]}',
            b'{"keys":[1]}',
            b'{"keys":[{"key_id":"a","public_key":"00"}]}',
            b'{"keys":[{"key_id":"a","public_key":"zz"}]}',
            b'{"keys":[{"key_id":"a","public_key":7}]}',
            b'{"keys":[{"key_id":"a"}]}',
            b'{"keys":{"key_id":"a"}}',
            b'{"keys":"' + b"a" * 70 + b'"}',
            b"[" * 100_000,
            b"\xff\xfe",
            EXPORT,
        ],
        ids=lambda text: repr(text[:30]),
    )
    def test_a_file_without_keys(self, folder: Path, text: bytes) -> None:
        (folder / "none.json").write_bytes(text)
        (folder / "match.opolyx").write_bytes(EXPORT)

        assert verify(folder / "match.opolyx", folder / "none.json").code == NO_KEYS

    def test_two_keys_of_one_name(self, folder: Path) -> None:
        (folder / "two.json").write_text(key_file([KEY, KEY]))

        assert verify(folder / "match.opolyx", folder / "two.json").code == NO_KEYS

    def test_no_keys_at_all_are_a_key_file_that_knows_none(self, folder: Path) -> None:
        (folder / "empty.json").write_text('{"keys":[]}')
        (folder / "match.opolyx").write_bytes(EXPORT)

        assert verify(folder / "match.opolyx", folder / "empty.json").code == MISMATCH

    def test_a_missing_key_file(self, folder: Path) -> None:
        (folder / "match.opolyx").write_bytes(EXPORT)

        assert verify(folder / "match.opolyx", folder / "missing.json").code == NO_FILE
        assert verify(folder / "match.opolyx", folder).code == NO_FILE


class TestCommandLine:
    def test_it_prints_the_report(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "match.opolyx").write_bytes(EXPORT)
        code = main([f"{folder}/match.opolyx", "--key", f"{folder}/keys.json"])

        assert code == OK
        assert capsys.readouterr().out.splitlines()[1] == "the head is signed by engine-1"

    def test_any_name_can_be_printed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["b\udcff\u0131"]) == NO_FILE
        assert capsys.readouterr().out == "no such file: b\\udcff\\u0131\n"

    def test_it_runs_alone_on_the_standard_library(self, folder: Path, tmp_path: Path) -> None:
        """As somebody would who has the file and this one module, and nothing else."""
        alone = tmp_path / "verify.py"
        alone.write_bytes((ROOT / "libs/verify.py").read_bytes())
        (folder / "match.opolyx").write_bytes(EXPORT)
        command = [sys.executable, "-I", "-S", "-W", "error", str(alone), "match.opolyx"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

        assert (result.returncode, result.stderr) == (OK, "")
        assert result.stdout.startswith("ok: ")

    def test_wrong_usage_is_2(self) -> None:
        with pytest.raises(SystemExit) as stopped:
            main([])

        assert stopped.value.code == 2


def test_the_verifier_and_the_schema_count_alike() -> None:
    numbers = {field.name: field.number for field in event_pb2.Event.DESCRIPTOR.fields}

    for name in (
        "match_created seed_contributed match_started dice_rolled jackpot_rolled match_ended "
        "seed_revealed match_aborted"
    ).split():
        assert getattr(verifier, name.upper()) == numbers[name]
    fields = {field.name: field.number for field in record_pb2.Record.DESCRIPTOR.fields}
    assert list(fields.values()) == list(range(1, 11))


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_every_rule_set_verifies(folder: Path, rule_set: str) -> None:
    export = evidence(rule_set, records_max=400).export()

    assert code_of(folder, export, with_key=True) == OK


@pytest.mark.slow
@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_mutated_exports_are_found_whose_last_line_was_made_to_fit(
    folder: Path, rule_set: str
) -> None:
    """Changed, cut and longer ones; with the key even if the hash of the file is made anew."""
    export = evidence(rule_set, records_max=60).export()
    assert code_of(folder, export) == OK

    @given(st.data())
    @settings(max_examples=300, database=None)
    def mutate(data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(export) - 1))
        size = data.draw(st.integers(0, 3))
        more = data.draw(st.binary(max_size=3))
        mutated = export[:at] + more + export[at + size :]
        if mutated == export:
            return
        assert code_of(folder, mutated) == MISMATCH
        signed = mutated[: mutated.rindex(b"\n", 0, -1) + 1]
        fitted = signed + sha256(signed).hexdigest().encode() + b"\n"
        assert fitted == export or code_of(folder, fitted, with_key=True) == MISMATCH

    mutate()
