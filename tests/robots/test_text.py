"""Text from outside: names are refused or shown, messages are short, numbers have ASCII digits."""

from __future__ import annotations

from pathlib import Path

import fuzzing
import pytest

from dynbench import robots
from dynbench.robots import Body, Revolute, Robot, text
from dynbench.robots.errors import DynbenchError, RobotError, RobotWarning, UnknownNameError, near

UNSAFE = ("\x1b[2Jgone", "a\nb", "a\tb", "\x9b31m", "\u202etxt", "\u2066x", "\x7f", "a\u2028b", "\ud800")
SAFE = ("panda", "β", "ñ\U0001f916", "می‌روم", "a b", "a/b", "=1+1", "<b>")


@pytest.mark.parametrize("name", UNSAFE)
def test_what_a_terminal_obeys_is_written_out(name: str) -> None:
    shown = text.visible(name)
    assert not any(map(text.is_unsafe, shown))
    assert shown.encode("ascii").decode("unicode_escape") == name
    assert text.visible(name, keep=name) == name


@pytest.mark.parametrize("name", SAFE)
def test_other_text_stays_as_it_is(name: str) -> None:
    assert text.visible(name) == name
    assert text.name_error("a name", name) is None


@pytest.mark.parametrize("name", [*UNSAFE, "x" * (text.LONGEST_NAME + 1), "", 3])
@pytest.mark.parametrize("of", ["robot", "body", "joint", "frame"])
def test_unsafe_names_are_refused(name: str, of: str) -> None:
    names = {"robot": "r", "body": "b", "joint": "j", "frame": "f", of: name}
    with pytest.raises(RobotError, match=r"name (is|has)") as error:
        built(**names)
    said = str(error.value)
    assert not any(map(text.is_unsafe, said))
    assert len(said) <= text.LONGEST


def built(robot: str, body: str, joint: str, frame: str) -> Robot:
    link = Body(name=body, joint=Revolute([0, 0, 1], name=joint), mass=1, inertia=[1, 1, 1])
    return Robot.from_bodies(robot, [link, Body(name=frame, parent=body, joint=robots.Fixed())])


@pytest.mark.parametrize("suffix", ["urdf", "toml"])
@pytest.mark.parametrize("name", ["\x9b31m", "\u202eevil", "x" * 20_000])
def test_files_with_such_names_are_refused(tmp_path: Path, suffix: str, name: str) -> None:
    content = {"urdf": fuzzing.URDF, "toml": fuzzing.TOML}[suffix]
    path = tmp_path / f"arm.{suffix}"
    for old in ('"upper"', '"arm"'):
        written = name.encode("unicode_escape").decode() if suffix == "toml" and name[0] != "x" else name
        path.write_text(content.replace(old, f'"{written.replace(chr(92) + "x", chr(92) + "u00")}"'), encoding="utf-8")
        with pytest.raises(RobotError) as error:
            robots.load(path)
        assert str(path) in str(error.value)
        assert "name" in str(error.value)
        assert not any(map(text.is_unsafe, str(error.value)))


@pytest.mark.parametrize("kind", [DynbenchError, RobotError, UnknownNameError, RobotWarning])
def test_no_message_is_long(kind: type[Exception]) -> None:
    said = str(kind("begin" + 10_000 * "\x1b" + "end"))
    assert len(said) <= text.LONGEST
    assert said.startswith("begin")
    assert said.endswith("end")
    assert not any(map(text.is_unsafe, said))
    assert str(kind("two\nlines")) == "two\nlines"


def test_hints_leave_room_for_the_rest() -> None:
    names = [f"{k}{'y' * 190}" for k in range(40)]
    assert len(near("x" * 1_000_000, names)) <= 240
    assert len(near(names[0][:-1], names)) <= 240


@pytest.mark.parametrize("number", ["١", "０.5", "1_0", "２", "inf", "nan", "1e999"])
def test_digits_of_other_scripts_are_no_numbers(tmp_path: Path, number: str) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(fuzzing.URDF.replace('value="2.5"', f'value="{number}"'), encoding="utf-8")
    with pytest.raises(RobotError, match=r"arm\.urdf:4: .* must be a finite number, got"):
        robots.load(path)
    with pytest.raises(RobotError):
        Body(name="b", joint=Revolute([0, 0, 1]), mass=number)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", ["inf", "-inf", "nan", "1e300", "3.5", "true", '"3"', '"٣"', "[]", "{ a = 1 }"])
@pytest.mark.parametrize("family", ["chain", "tree", "random_tree", "space_arms", "elastic_modes"])
def test_a_family_with_an_odd_count_is_refused_in_a_sentence(tmp_path: Path, family: str, n: str) -> None:
    path = tmp_path / "robot.toml"
    path.write_text(f'family = "{family}"\n[arguments]\nn = {n}\n', encoding="utf-8")
    with pytest.raises(RobotError, match=r"robot\.toml"):
        robots.load(path)


@pytest.mark.parametrize("arguments", ["lengths = []", "masses = { a = 1 }", 'coms = "٣"', "lengths = [1e300, 1e300]"])
def test_arguments_of_a_family_that_do_not_fit(tmp_path: Path, arguments: str) -> None:
    path = tmp_path / "robot.toml"
    path.write_text(f'family = "two_link"\n[arguments]\n{arguments}\n', encoding="utf-8")
    with pytest.raises(RobotError, match=r"robot\.toml"):
        robots.load(path)
