"""Checks the translations in assets/locale.

usage: catalogs_test.py ROOT CASE   CASE: placeholders, template, complete
Exit status 77: skipped, with the reason printed.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LANGUAGES = ("zh", "ja", "vi")


def unquoted(line):
    text = line[line.index('"') + 1:line.rindex('"')]
    return text.replace("\\\\", "\0").replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t") \
        .replace("\0", "\\")


def read_po(path):
    """{msgid: (msgstr, flags)} of a catalog, without its header and its obsolete texts."""
    texts, flags, target, msgid = {}, "", None, ""
    for line in path.read_text("utf-8").splitlines() + [""]:
        if line.startswith("#,"):
            flags = line
        elif line.startswith("msgid "):
            target, msgid = "msgid", unquoted(line)
        elif line.startswith("msgstr "):
            target = "msgstr"
            texts[msgid] = (unquoted(line), flags)
        elif line.startswith('"') and target == "msgid":
            msgid += unquoted(line)
        elif line.startswith('"'):
            texts[msgid] = (texts[msgid][0] + unquoted(line), texts[msgid][1])
        elif not line:
            target, flags = None, ""
    texts.pop("", None)
    return texts


def placeholders(text):
    """The set of (argument, format) of fmt's placeholders; None if fmt cannot read the text."""
    found, automatic, numbered, at = set(), 0, False, 0
    while at < len(text):
        if text[at:at + 2] in ("{{", "}}"):
            at += 2
            continue
        if text[at] == "}":
            return None
        if text[at] != "{":
            at += 1
            continue
        depth, end = 1, at + 1
        while end < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        if depth:
            return None
        number, _, spec = text[at + 1:end - 1].partition(":")
        if number and not number.isdigit():
            return None
        found.add((int(number) if number else automatic, spec))
        numbered = numbered or bool(number)
        automatic += (not number) + spec.count("{}")
        at = end
    return None if numbered and automatic else found


def fault(msgid, msgstr):
    """Why a translation's placeholders do not fit; empty if they do."""
    wanted = placeholders(msgid)
    if not msgstr or wanted is None or placeholders(msgstr) == wanted:
        return ""
    return f"{msgid!r} is translated as {msgstr!r}: the placeholders differ"


class Rules(unittest.TestCase):
    def test_each_rule_catches_its_case(self):
        for msgid, msgstr in (("{} of {}", "{}"), ("{} of {}", "{0} {2}"), ("{:.0f} W", "{} W"),
                              ("{} B", "B {"), ("no {} here", "không"),
                              ("{0} = {0}", "{0} = {}")):
            self.assertTrue(fault(msgid, msgstr), msgstr)
        for msgid, msgstr in (("{} of {}", "{1} / {0}"), ("{} of {}", "{}/{}"), ("{:.0f} W", "W {0:.0f}"),
                              ("{0} = {0}", "= {0}"), ("a {{b}}", "{{b}}"), ("{} of {}", "")):
            self.assertEqual(fault(msgid, msgstr), "")

    def test_catalogs_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "x.po"
            file.write_text('msgid ""\nmsgstr ""\n"Language: x\\n"\n\n#: a.cpp\n#, fuzzy\nmsgid ""\n'
                            '"a\\n"\n"\\"b\\""\nmsgstr "c"\n"d"\n\nmsgid "e"\nmsgstr ""\n')
            self.assertEqual(read_po(file), {'a\n"b"': ("cd", "#, fuzzy"), "e": ("", "")})


class Catalogs(unittest.TestCase):
    def assert_none(self, found):
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def catalogs(self):
        for language in LANGUAGES:
            yield language, read_po(LOCALE / f"{language}.po")

    def test_placeholders(self):
        self.assert_none([f"{language}.po: {text}" for language, catalog in self.catalogs()
                          for msgid, (msgstr, _) in catalog.items() if (text := fault(msgid, msgstr))])

    def test_formats(self):
        for language in LANGUAGES:
            done = subprocess.run(["msgfmt", "--check", "-o", "/dev/null", LOCALE / f"{language}.po"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_template(self):
        with tempfile.TemporaryDirectory() as folder:
            fresh = pathlib.Path(folder) / "fresh.pot"
            subprocess.run([LOCALE / "update.sh", fresh], check=True)
            marked = set(read_po(fresh))
        for name in ("device-lab.pot", *(f"{language}.po" for language in LANGUAGES)):
            known = set(read_po(LOCALE / name))
            self.assert_none([f"{name} lacks {text!r}; run assets/locale/update.sh"
                              for text in sorted(marked - known)])
            self.assert_none([f"{name} has {text!r}, which no source marks; run assets/locale/update.sh"
                              for text in sorted(known - marked)])

    def test_complete(self):
        self.assert_none([f"{language}.po: {msgid!r} is {'fuzzy' if msgstr else 'not translated'}"
                          for language, catalog in self.catalogs()
                          for msgid, (msgstr, flags) in catalog.items() if not msgstr or "fuzzy" in flags])


CASES = {"placeholders": (Rules, "test_placeholders", "test_formats"), "template": ("test_template",),
         "complete": ("test_complete",)}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in CASES:
        sys.exit(__doc__)
    LOCALE = pathlib.Path(sys.argv[1]).resolve() / "assets/locale"
    if sys.argv[2] == "template" and not shutil.which("xgettext"):
        print("skipped: xgettext (package gettext) is not installed")
        sys.exit(77)
    suite = unittest.TestSuite()
    for case in CASES[sys.argv[2]]:
        suite.addTests([Catalogs(case)] if isinstance(case, str)
                       else unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
    sys.exit(0 if result.wasSuccessful() else 1)
