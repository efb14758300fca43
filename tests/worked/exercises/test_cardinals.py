"""Numbers in words, where they count something."""

from __future__ import annotations

from contextlib import suppress

import pytest

from eckart import worked
from eckart.errors import InputError

# The singular values are 8√17 and 2√17; one captures 75 % of the energy.
RIGHT = [
    ("en", "σ1 = 8√17, σ2 = 2√17, one is enough"),
    ("en", "σ1 = 8√17, σ2 = 2√17, 1 is enough"),
    ("en", "One is enough: σ1 = 8√17, σ2 = 2√17"),
    ("en", "8√17 and 2√17; one singular value"),
    ("en", "k = one; σ = 8√17, 2√17"),
    ("en", "1 singular value suffices; they are 8√17 and 2√17"),
    ("en", "one singular value captures 94.1 %; σ = 8√17, 2√17"),
    ("it", "ne basta uno; σ = 8√17, 2√17"),
    ("it", "8√17 e 2√17; basta una componente"),
    ("es", "basta con uno; σ = 8√17, 2√17"),
    ("es", "8√17 y 2√17; una componente"),
    ("ru", "достаточно одного; σ = 8√17, 2√17"),
    ("ru", "8√17 и 2√17; одна компонента"),
]
WRONG = [
    ("en", "8√17, 2√17; two are needed"),
    ("en", "One singular value is 8√17, the other 2√17"),
    ("en", "8√17, 2√17; one half"),
    ("en", "8√17, 2√17; twenty-one"),
    ("en", "8√17, 2√17; at least one"),
    ("it", "Un valore singolare è 8√17, l'altro 2√17"),
    ("it", "ne bastano due; σ = 8√17, 2√17"),
    ("es", "se necesitan dos; σ = 8√17, 2√17"),
    ("ru", "нужно два; σ = 8√17, 2√17"),
]


@pytest.mark.parametrize(("language", "text"), RIGHT)
def test_number_words_count(language: str, text: str) -> None:
    with worked.language(language):
        verdict = worked.exercise("energy", seed=3).check(text)
    assert verdict, verdict.message


@pytest.mark.parametrize(("language", "text"), WRONG)
def test_other_words_do_not(language: str, text: str) -> None:
    with worked.language(language):
        made = worked.exercise("energy", seed=3)
        with suppress(InputError):
            assert not made.check(text)


def test_other_kinds() -> None:
    assert worked.exercise("determinant", seed=3).check("it is four")
    assert not worked.exercise("determinant", seed=3).check("five")
    assert worked.exercise("query", seed=3).check("(0, 1.2, 2.4) and column two")
    assert worked.exercise("rank", seed=3).check("The rank is two; basis: first and second row; C = [1 0; 0 1; 2 3]")
