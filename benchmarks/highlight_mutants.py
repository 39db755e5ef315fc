"""
Take out the rules of verification one at a time, and see that a test fails.

    python benchmarks/highlight_mutants.py [RULE ...]

Each mutant is a line of the source replaced by one without its rule. It is loaded in
place of the module in a process of its own, where the tests of verification run until
the first that fails. A mutant under which all of them pass has survived: exit code 1.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import hypothesis  # noqa: F401 -- loaded once, before the processes part
import pytest
import rapidfuzz.fuzz  # noqa: F401 -- as above

ROOT = Path(__file__).parents[1]
TESTS = ("verification", "attacks", "scope", "property")


@dataclass(frozen=True, slots=True)
class Mutant:
    """
    A rule, and a module without it.

    Args:
        rule: What is taken out.
        module: Below `sdrag.highlight`.
        line: What stands there once.
        instead: What stands there without the rule.
    """

    rule: str
    module: str
    line: str
    instead: str

    def source(self) -> str:
        """Give the module without the rule."""
        path = ROOT / "shared" / "sdrag" / "highlight" / f"{self.module}.py"
        text = path.read_text(encoding="utf-8")
        if text.count(self.line) != 1:
            raise SystemExit(f"{self.rule}: the line is not there exactly once.")
        return text.replace(self.line, self.instead)


MUTANTS = (
    Mutant(
        "an extract has min_words",
        "verification",
        "if words < self.min_words:\n            match = self._short(extract, words)\n",
        "if False:\n            match = None\n",
    ),
    Mutant(
        "the slice has min_words too",
        "verification",
        "if words < self.min_words:\n            return Refusal(index, "
        '"too-few-words", words, passage.id)\n',
        "if False:\n            return None\n",
    ),
    Mutant(
        "a short sentence may be quoted",
        "verification",
        "match = self._short(extract, words)",
        "match = None",
    ),
    Mutant(
        "a short sentence is quoted to its last word",
        "verification",
        "return None if holds_a_word(left) or holds_a_word(right) else whole",
        "return whole",
    ),
    Mutant(
        "a short sentence keeps what governs it",
        "verification",
        "span = self._cut(text, whole) if whole is not None else None",
        "span = whole",
    ),
    Mutant(
        "a short sentence has its mark",
        "short_sentences",
        "sentence.of(text).rstrip(_CLOSING).endswith(_MARKS)",
        "True",
    ),
    Mutant(
        "a short sentence begins none in its middle",
        "short_sentences",
        "and not _begins_small(text, sentence)\n",
        "",
    ),
    Mutant(
        "what goes on after its mark was no short sentence",
        "short_sentences",
        "sentence not in broken",
        "True",
    ),
    Mutant(
        "a short sentence has no placeholder",
        "short_sentences",
        "and not any(hole.overlaps(sentence) for hole in holes)",
        "",
    ),
    Mutant(
        "each of several short sentences has enough words",
        "short_sentences",
        "count_words(text, sentence) >= least:",
        "True:",
    ),
    Mutant(
        "no words are counted where a placeholder stands",
        "verification",
        "tuple(placeholders(passage.text, withheld) for passage in passages)",
        "tuple(() for passage in passages)",
    ),
    Mutant(
        "the policy's own placeholders are known",
        "boundaries",
        "for name in known if name]",
        "for name in ()]",
    ),
    Mutant(
        "bracketed capitals are placeholders",
        "boundaries",
        "for pattern in (_PLACEHOLDER, *patterns)",
        "for pattern in patterns",
    ),
    Mutant(
        "whole sentences, where they are wanted",
        "verification",
        "return to_sentences(text, span)",
        "return to_sentences(text, span) or span",
    ),
    Mutant(
        "what governs a cut comes along",
        "verification",
        "return Scope.of(text).widen(span)",
        "return span",
    ),
    Mutant(
        "highlights are in document order",
        "verification",
        "in sorted(matches, key=lambda match: (match.passage, match.span)):",
        "in matches:",
    ),
    Mutant(
        "what overlaps or touches is one",
        "verification",
        "return not holds_a_word(text[left.span.end : right.span.start])",
        "return False",
    ),
    Mutant(
        "what is joined reaches as far as the further one",
        "verification",
        "max(left.span.end, right.span.end)",
        "right.span.end",
    ),
    Mutant(
        "passages are never joined",
        "verification",
        "if left.passage != right.passage:\n",
        "if False:\n",
    ),
    Mutant(
        "nothing is said twice",
        "verification",
        "if any(_contains_words(highlight.text, other.text) for other in later):",
        "if False:",
    ),
    Mutant(
        "words that are part of other words are no repeat",
        "verification",
        "if not (cuts_a_word(other, start) or cuts_a_word(other, start + len(text))):",
        "if True:",
    ),
    Mutant(
        "no more than max_highlights",
        "verification",
        "Verification(tuple(kept[:most])",
        "Verification(tuple(kept)",
    ),
    Mutant(
        "a flood of extracts is cut off",
        "verification",
        "enumerate(extracts[:MAX_EXTRACTS])",
        "enumerate(extracts)",
    ),
    Mutant(
        "numbers are in range",
        "verification",
        "if min_words < 1 or most < 1 or not 0 <= threshold <= 100:",
        "if False:",
    ),
    Mutant(
        "an id names one passage",
        "verification",
        "if len({passage.id for passage in passages}) != len(passages):",
        "if False:",
    ),
    Mutant(
        "passages are bounded",
        "verification",
        "if sum(len(passage.text) for passage in passages) > MAX_CHARACTERS:",
        "if False:",
    ),
    Mutant(
        "an exact match cuts no word at its start",
        "quote_matching",
        "if not (cuts_a_word(text, span.start) or cuts_a_word(text, span.end)):",
        "if not cuts_a_word(text, span.end):",
    ),
    Mutant(
        "... and at its end",
        "quote_matching",
        "if not (cuts_a_word(text, span.start) or cuts_a_word(text, span.end)):",
        "if not cuts_a_word(text, span.start):",
    ),
    Mutant(
        "an occurrence that cuts a word hides no other",
        "quote_matching",
        "for _ in range(_MAX_OCCURRENCES):",
        "for _ in range(1):",
    ),
    Mutant(
        "an exact match comes before a near one",
        "quote_matching",
        "next(self.occurrences(quotation), None) or self._fuzzy(needle)",
        "self._fuzzy(needle) or next(self.occurrences(quotation), None)",
    ),
    Mutant(
        "a near match is widened to whole words",
        "quote_matching",
        "_trimmed(self.texts[index], widen(self.texts[index], span))",
        "_trimmed(self.texts[index], span)",
    ),
    Mutant(
        "a near match is compared again as a whole",
        "quote_matching",
        "score = fuzz.ratio(needle, fold_text(whole.of(self.texts[index])))",
        "score = 100.0",
    ),
    Mutant(
        "a near match is near enough",
        "quote_matching",
        "if score >= self.threshold and (",
        "if (",
    ),
    Mutant(
        "of near matches the nearest is taken",
        "quote_matching",
        "(best is None or score > best.score)",
        "best is None",
    ),
    Mutant(
        "letters beside each other are a word",
        "boundaries",
        "return not (is_unspaced(before) or is_unspaced(after))",
        "return False",
    ),
    Mutant(
        "scripts without spaces may be cut",
        "boundaries",
        "return not (is_unspaced(before) or is_unspaced(after))",
        "return True",
    ),
    Mutant(
        "a connector holds on to the word before it",
        "boundaries",
        "joined = after in _CONNECTORS and _in_word(text[position + 1 : position + 2])",
        "joined = False",
    ),
    Mutant(
        "... and to the word after it",
        "boundaries",
        "joined = before in _CONNECTORS and _in_word(beyond)",
        "joined = False",
    ),
    Mutant(
        "a number keeps the sign before it",
        "boundaries",
        "(after.isdigit() and before in _SIGNS_BEFORE)",
        "False",
    ),
    Mutant(
        "... and the one after it",
        "boundaries",
        "(before.isdigit() and after in _SIGNS_AFTER)",
        "False",
    ),
    Mutant(
        "marks belong to the letter before them",
        "boundaries",
        'or unicodedata.category(character)[0] == "M"',
        "or False",
    ),
    Mutant(
        "what is invisible parts no word",
        "boundaries",
        'or (unicodedata.category(character) == "Cf")',
        "or False",
    ),
    Mutant(
        "a word is what stands between spaces",
        "boundaries",
        "for token in shown.split() if _HOLE not in token)",
        "for token in re.split(r'[\\s.-]', shown) if _HOLE not in token)",
    ),
    Mutant(
        "what touches a placeholder is no word",
        "boundaries",
        "for token in shown.split() if _HOLE not in token)",
        "for token in shown.split())",
    ),
    Mutant(
        "a word holds a letter or a digit",
        "boundaries",
        "character.isalnum() and not is_unspaced(character) for character in token",
        "not is_unspaced(character) for character in token",
    ),
    Mutant(
        "two characters of such a script are a word",
        "boundaries",
        "_UNSPACED_PER_WORD = 2",
        "_UNSPACED_PER_WORD = 1",
    ),
)


class Loader(importlib.abc.Loader, importlib.abc.MetaPathFinder):
    """Loads one module from another source."""

    def __init__(self, name: str, source: str) -> None:
        """Take the module's full name and the source that stands for it."""
        self._name, self._source = name, source

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find the one module."""
        del path, target
        if fullname != self._name:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the other source."""
        exec(compile(self._source, self._name, "exec"), module.__dict__)  # noqa: S102 -- our own source, a line changed


def survives(mutant: Mutant | None) -> bool:
    """Run the tests in a process of its own; nothing changed, if there is no mutant."""
    child = os.fork()
    if child == 0:
        if mutant is not None:
            name = f"sdrag.highlight.{mutant.module}"
            sys.meta_path.insert(0, Loader(name, mutant.source()))
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        files = [str(ROOT / "tests" / "highlight" / f"test_{one}.py") for one in TESTS]
        options = ["-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
        os._exit(int(pytest.main([*options, *files])))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def main() -> None:
    """Run every mutant."""
    sys.path.insert(0, str(ROOT / "shared"))
    if not survives(None):
        raise SystemExit("The tests fail with nothing taken out.")
    survivors = 0
    chosen = [one for one in MUTANTS if one.rule in sys.argv[1:]] or MUTANTS
    for mutant in chosen:
        alive = survives(mutant)
        survivors += alive
        print(f"{'SURVIVED' if alive else 'killed  '}  {mutant.rule}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} killed")
    raise SystemExit(survivors > 0)


if __name__ == "__main__":
    main()
