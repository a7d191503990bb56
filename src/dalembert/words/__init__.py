"""All words of the player and of the report: one catalogue per language, and the sentences of results in it."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Any

from ..errors import StartError, told
from . import english, spanish

ENGLISH = re.compile(r"[a-z]{2,}:? [a-z]{2,}")
"""Two words: other texts are names and formulas."""

LANGUAGES: dict[str, Any] = {"en": english, "es": spanish}


def words(language: str) -> dict[str, str]:
    """The words of the player in a language."""
    found: dict[str, str] = LANGUAGES[_known(language)].PLAYER
    return found


def report_words(language: str) -> dict[str, str]:
    """The words of the report in a language."""
    found: dict[str, str] = LANGUAGES[_known(language)].REPORT
    return found


def _known(language: str) -> str:
    if language not in LANGUAGES:
        raise StartError(f"lang={told(language)}: there are words in {', '.join(LANGUAGES)}.")
    return language


def sentence(text: str, language: str) -> str | None:
    """A sentence of a result, which is in English, in a language; None if the catalogue does not have it.

    What stands in the places {} of a template is translated too where it is in the catalogue, and is kept otherwise:
    names of coordinates, numbers, formulas.
    """
    if language == "en" or not re.search(r"[A-Za-z]{2}", text):
        return text
    plain = text.strip()
    if plain.endswith((".", ":")) and (found := sentence(plain[:-1], language)) is not None:
        return f"{found}{plain[-1]}"
    head, mark, rest = plain.partition(": ")
    if mark and (known := LANGUAGES[language].SENTENCES.get(head)) and (found := sentence(rest, language)):
        return f"{known}: {found}"  # before templates: a place of theirs would take the head for a name
    if found := _by_template(plain, language):
        return found
    for mark, joint in (
        ("], ", "], "),
        ("; ", "; "),
        (", because ", ", porque "),
        (", or ", " o "),
        (": ", ": "),
        (". ", ". "),
    ):
        if mark in plain and all(parts := [sentence(part, language) for part in plain.split(mark)]):
            return joint.join(map(str, parts))
    return None


def _by_template(text: str, language: str) -> str | None:
    for pattern, template, quoted in _templates(language):
        if match := pattern.fullmatch(text):
            groups = zip(match.groups(), quoted, strict=True)
            inside = [part if is_name else _inside(part, language) for part, is_name in groups]
            if template.startswith("{}"):  # the name of a system, which may be in any language
                inside[0] = inside[0] or match[1]
            if all(part is not None for part in inside):
                return template.format(*inside)
    return None


def _inside(part: str, language: str) -> str | None:
    """What stands in a place of a template: a sentence of the catalogue, or a name or formula, which is kept."""
    return sentence(part, language) or (None if ENGLISH.search(part) else part)


@cache
def _templates(language: str) -> list[tuple[re.Pattern[str], str, list[bool]]]:
    """The templates as patterns, the longest first: a short one may fit what a longer one says better.

    With each of its places whether it is in quotes, of either kind: there stands a name, which may be in any language.
    """
    listed = sorted(LANGUAGES[language].SENTENCES.items(), key=lambda pair: -len(pair[0].replace("{}", "")))
    return [
        (
            re.compile("(.+?)".join(map(re.escape, source.split("{}"))).replace("'(.+?)'", "[\"'](.+?)[\"']")),
            target,
            [before.endswith("'") and after.startswith("'") for before, after in pairwise(source.split("{}"))],
        )
        for source, target in listed
    ]
