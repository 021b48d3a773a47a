# SPDX-License-Identifier: GPL-2.0-only
"""The man pages and the completion have everything that the command accepts."""

import functools
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from inputs import (CODETAG_ALLOCINFO, CODETAG_DEBUGFS, CODETAG_MEMINFO, CODETAG_SLABINFO, CODETAG_TRACE,
                    CODETAG_ZONEINFO, HANDMADE_DEBUGFS, MAINLINE_SLABINFO, OLD_TRACE, SPLIT_CONTEXTS, V1, V2,
                    V2_ACTIVITY, V2_LATER)
from outputs import json_is_documented
from support import CODETAG, built, codetag, named, needs_feature, needs_program, refused, run, table

MAN = Path("../man/codetag.1").read_text(encoding="utf-8")
KERNEL_DOCS = Path("../../codetag/Documentation")


def usage_guide():
    return Path("../../Documentation/usage.md").read_text(encoding="utf-8")


def part(start, end, text):
    """The lines from one that begins with start to one that begins with end"""
    return re.search(f"^{start}.*?^{end}", text, re.MULTILINE | re.DOTALL)[0]


@functools.cache
def help_of(command):
    """The help, in which an option and its text are on one line"""
    return codetag(command, "--help", env={"ARGP_HELP_FMT": "rmargin=2000"}).out


def options_of(command):
    before_examples = help_of(command).partition("\nExamples:")[0]
    return set(re.findall("--[a-z][a-z-]*", before_examples)) - {"--help", "--usage", "--version"}


def word_options(command):
    """The options of a command that take a word of a list"""
    return re.findall(r"^ *(?:-., )?(--[a-z-]+)=(?:KEY|BY|LIST|FORMAT|KIND|ATTR)(?: .*)?$", help_of(command),
                      re.MULTILINE)


COMMANDS = re.findall("^  ([a-z]+) ", part("Commands:", "$", codetag("--help").out), re.MULTILINE)
assert len(COMMANDS) > 20


def of_commands(name):
    """A test for each command"""
    return table("command", *((name.format(command), command) for command in COMMANDS))


@of_commands("docs/man/{}")
def test_man(command):
    """Every option of --help is in the man page, as .Fl -name."""
    words = MAN.replace("\n", " ")
    missing = [option for option in options_of(command)
               if not re.search(rf"-{option.removeprefix('--')}( |$|=|\))", words)]
    assert not missing
    assert f"\n.D1 Nm Cm {command} " in MAN


@of_commands("docs/help/{}")
def test_help(command):
    result = codetag(command, "--help")
    assert "\nExamples:" in result.out and "\nExit status: 0" in result.out
    assert not result.err


@of_commands("docs/examples/{}")
def test_examples(command):
    """The examples of --help are commands that it takes."""
    text = part("Examples:", "Exit status", help_of(command))
    one_line_each = re.sub(r"\\\n *", "", text)
    examples = re.findall(rf"codetag ({command}\b[^|>&\n]*)", one_line_each)
    assert examples
    for example in examples:
        # The command opens an image as soon as it is named, and there is none in this test. The words
        # after -- are a command to run.
        example = example.replace("--image ", "--usage --image ", 1).replace(" -- ", " --usage -- ", 1)
        codetag(f"{example} --usage")


@named("docs/older-options")
def test_older_options():
    """Hints about options of older tools are for those that the command does not have."""
    source = Path("../cmd/older.c").read_text(encoding="utf-8")
    older = re.findall(r'^\t\{ "([a-z]*)", "(--[a-z-]*)"', source, re.MULTILINE)
    assert older
    for command, option in older:
        assert option not in options_of(command), command
        message = refused(f"{option} is an option of another tool", command, option).err
        assert len(message.splitlines()) == 2, message


@named("docs/older-tools")
def test_older_tools():
    """Each tool that users come from has its row in both texts, and its name as a command gets an answer."""
    guide = part("## Coming from", "## An example", usage_guide())
    manual = part(r"\.Sh COMING FROM", r"\.Sh SEE", MAN)
    for tool in ("slab_account", "trace_analyze", "kmemtrace", "slabtop", "showslab", "MLT", "kmemleak", "page_owner",
                 "memleak", "perf kmem", "drgn"):
        assert tool in guide
        assert tool in manual
    for tool in ("slab_account", "trace_analyze.py", "kmemtrace", "slabtop", "showslab", "MLT", "mlt", "kmemleak",
                 "page_owner", "page_owner_sort", "memleak", "perf", "drgn", "crash"):
        refused("Instead: codetag", tool)
    refused("Instead: codetag slabs --live", "slabtop")


@named("docs/version")
def test_version():
    """The version that is built is the newest one of the changes, with "~dev" before its release."""
    changes = Path("../../CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## ([0-9.]+)( \(not released yet\))?$", changes, re.MULTILINE)
    want = newest[1] + ("~dev" if newest[2] else "")
    assert codetag("--version").lines[0] == f"codetag {want}"


@named("docs/install")
@needs_program("clang")
def test_install(work):
    built("clang", "CC=clang", "install", f"DESTDIR={work}", "PREFIX=/usr")
    for file in ("bin/codetag", "share/man/man1/codetag.1", "share/man/man5/codetag-record.5",
                 "share/bash-completion/completions/codetag"):
        assert (work / "usr" / file).stat().st_size
    codetag(f"top --once {V1}", command=work / "usr/bin/codetag")


@needs_program("mandoc")
@table(
    "page",
    ("docs/lint/codetag.1", "../man/codetag.1"),
    ("docs/lint/codetag-record.5", "../man/codetag-record.5"),
)
def test_lint(page):
    run("mandoc", "-T", "lint", "-W", "warning", page)
    assert len(run("mandoc", page).lines) > 20


COLUMNS = ("slabs", "slabs --diff x", "contexts", "trace x", "status", "enable --dry-run --all",
           "disable --dry-run --all", "fault --dry-run --all", "fault --list", "guard --dry-run --all", "guard --list",
           "audit")


@table("line", *((f"docs/columns/{line.replace(' ', '-')}", line) for line in COLUMNS))
def test_columns(line):
    help_knows_columns(line)


@needs_feature("libelf")
@named("docs/columns/static-x")
def test_columns_of_static():
    help_knows_columns("static x")


@needs_feature("sqlite3")
@named("docs/columns/replay---list-x")
def test_columns_of_replay():
    help_knows_columns("replay --list x")


def help_knows_columns(line):
    """--help lists all columns: the same as the message about an unknown one."""
    message = refused("there are: ", f"{line} -o no-such").err
    columns = words_of_message(message)
    assert columns
    explained = " ".join(help_of(line.split()[0]).split())
    missing = [column for column in columns if not re.search(rf"[ :]{re.escape(column)}([ ,.]|$)", explained)]
    assert not missing


def words_of_message(message):
    """The words that a message about an unknown word lists"""
    found = re.search("there are: (.*)", message)
    return found[1].replace(",", "").split() if found else []


def words_of(command, option):
    """The words that an option takes, as the message about an unknown one lists them"""
    words = words_of_message(codetag(command, option, "?", status=2).err)
    return ["dir:2" if word == "dir:DEPTH" else word for word in words]


def man_of(command, columns):
    """The man page's text about the options of a command; with columns, about its columns, too"""
    lines, here, in_json = [], False, False
    for line in MAN.splitlines():
        if line.startswith((".Ss", ".Sh")):
            of_command = line.startswith(".Ss ") and re.search(f"[ ,]{command}(,|$)", line)
            here = (line.startswith(".Ss Common options") or of_command
                    or (columns and line.startswith(".Sh COLUMNS")))
            in_json = line.startswith(".Sh JSON")
        if in_json and columns and line.startswith(".It"):
            here = re.search(f"[ ,]{command}([ ,]|$)", line)
        if here:
            lines.append(line)
    return "\n".join(lines)


def knows(word, place, text):
    """The text has it as a word of its own."""
    word = re.escape(word)
    assert re.search(f"(^|[^a-z_/]){word}([^a-z_/]|$)", text), f"no {word} in {place}"


@table("command", *((f"docs/words/{command}", command) for command in COMMANDS if word_options(command)))
def test_words(command):
    """A word that the command takes is in its help, in the man page and is completed; a word that is
    completed is taken."""
    for option in word_options(command):
        words = words_of(command, option)
        assert len(words) > 2, f"no message lists the words of {option}"
        codetag(command, *(f"{option}={word}" for word in words), "--usage")

        explained = "\n".join(line for line in help_of(command).splitlines() if f"{option}=" in line)
        manual = man_of(command, columns="columns" in option)
        completed = run("bash", "-c", '. ../completion/codetag; _codetag_values "$@"', "-", option, command).out
        for word in words:
            # The depth is an example.
            word = word.removesuffix(":2")
            knows(word, f"the help of {command} {option}", explained)
            knows(word, f"codetag.1, {command} {option}", manual)
            knows(word, f"the completion of {command} {option}", completed)
        if (command, option) != ("slabs", "--columns"):
            not_taken = [word for word in completed.split() if word.removesuffix(":1") not in words]
            assert not not_taken, f"{command} {option}"


def documented(file):
    """The words in the table of a file of debugfs in its description"""
    interface = (KERNEL_DOCS / "ABI/testing/debugfs-codetag").read_text(encoding="utf-8")
    table_rows = re.search(f"codetag/{file}\n.*?==\n(.*?)\n\t\t==", interface, re.DOTALL)[1]
    return set(re.findall(r"^\t\t(\w+) ", table_rows, re.MULTILINE))


def words_in(source, pattern):
    """The words of a table in C"""
    return set(re.findall(pattern, Path(source).read_text(encoding="utf-8"), re.MULTILINE))


@named("docs/words/census-keys")
def test_census_keys():
    """The kernel's census has the words that the command knows, except for those that only images have."""
    message = codetag("census --by x", status=2).err
    words = set(re.search("there are: (.*)", message)[1].split(", "))
    assert words_in("../../codetag/mm/codetag/census.c", r'^\t\[BY_\w+\]\s*= "(\w+)",') == words - {"age"}
    assert documented("census") == words - {"age"}


@named("docs/words/keys")
def test_keys():
    """The keys of the kernel's language: in its documentation, in the help, in the man page"""
    message = codetag("split --dry-run --all ?", status=2).err
    keys = re.search("there are: (.*), and ", message)[1].split(", ")
    assert len(keys) > 8, message
    assert documented("contexts") == set(keys)
    assert words_in("../lib/memory_image/contexts.c", r"^\t\[CODETAG_KEY_(\w+)\] = put_") == {
        key.upper() for key in keys} - {"STACK", "CALLER"}
    admin_guide = (KERNEL_DOCS / "admin-guide/mm/codetag.rst").read_text(encoding="utf-8")
    for key in keys:
        codetag("split --dry-run --all", key, "--usage")
        assert re.search(f"^``{key}`` ", admin_guide, re.MULTILINE), f"no row of {key} in codetag.rst"
        knows(key, "usage.md", part("The keys are", r"[^\n]*\.", usage_guide()))
        knows(key, "codetag.1, split", part(r"\.Ss split", r"\.Ss contexts", MAN))
        knows(key, "the help of split", codetag("split --help").out.partition("\nKeys:")[2])
        assert key in completions("split", key)
        assert key in words_of("contexts", "--group")


def completions(*words):
    """The words that the completion offers for the last of these"""
    script = """. ../completion/codetag
        COMP_WORDS=(codetag "$@") COMP_CWORD=$#
        _codetag
        printf '%s\\n' "${COMPREPLY[@]}" """
    return run("bash", "-c", script, "-", *words).lines


@of_commands("docs/completion/{}")
def test_completion_of_command(command):
    assert command in completions(command[:2])


@of_commands("docs/completion/{}/json")
def test_completion_of_options(command):
    assert "--help" in completions(command, "--h")


@table(
    "want, line",
    ("docs/completion/equals", "subsystem", "report --group = sub"),
    ("docs/completion/equals-empty", "place", "report --group ="),
    ("docs/completion/columns", "total_requested", "trace -o total_r"),
    ("docs/completion/columns-report", "growth", "diff --columns gr"),
    ("docs/completion/columns-diff", "slabs_growth", "slabs -o slabs_"),
    ("docs/completion/host", "host", "export -g ho"),
    ("docs/completion/help", "leaks", "help le"),
    ("docs/completion/values", "subsystem", "report --group sub"),
    ("docs/completion/sort", "waste", "trace -s was"),
    ("docs/completion/sort-static", "rodata", "static --sort r"),
    ("docs/completion/attr", "static", "chart --attr s"),
    ("docs/completion/query", "module", "report mod"),
    ("docs/completion/contexts-group", "function", "contexts -g fun"),
    ("docs/completion/split-key", "stack", "split sta"),
)
def test_completion(want, line):
    assert want in completions(*line.split())


@table(
    "line",
    ("docs/json/report", f"report --json {CODETAG_ALLOCINFO} --meminfo {CODETAG_MEMINFO} --slabinfo {CODETAG_SLABINFO}"
                         f" --zoneinfo {CODETAG_ZONEINFO}"),
    ("docs/json/where", f"where --json {CODETAG_MEMINFO}"),
    ("docs/json/tree", f"report --json --tree {CODETAG_ALLOCINFO}"),
    ("docs/json/diff", f"diff --json {V2_LATER} {CODETAG_ALLOCINFO}"),
    ("docs/json/merge", f"merge --json {CODETAG_ALLOCINFO} {V2_LATER}"),
    ("docs/json/trace", f"trace --json {CODETAG_TRACE}"),
    ("docs/json/slabs", f"slabs --json -f {CODETAG_SLABINFO} --allocinfo {CODETAG_ALLOCINFO}"),
    ("docs/json/slabs-diff",
     f"slabs --json -f {CODETAG_SLABINFO} --diff {MAINLINE_SLABINFO}"),
    ("docs/json/status", f"status --json -a --debugfs {CODETAG_DEBUGFS}"),
    ("docs/json/fault", f"fault --list --json --debugfs {CODETAG_DEBUGFS}"),
    ("docs/json/guard", f"guard --list --json --debugfs {HANDMADE_DEBUGFS}"),
    ("docs/json/remembered", f"remembered --json --debugfs {CODETAG_DEBUGFS}"),
    ("docs/json/contexts", f"contexts --json {SPLIT_CONTEXTS}"),
    ("docs/json/contexts-tree", f"contexts --json --tree -n 1 {SPLIT_CONTEXTS}"),
    ("docs/json/contexts-account", f"contexts --account -d 0.1 --json {SPLIT_CONTEXTS}"),
    ("docs/json/audit", "audit --json data/handmade-bad.audit"),
)
def test_json(line):
    """Every field of the JSON that a command prints is in the man page."""
    json_is_documented(codetag(line, status=(0, 1)))


@table("line", ("docs/json/leaks", "leaks --json -a"), ("docs/json/replay", "replay --json --list"))
def test_json_of_recording(recording, line):
    json_is_documented(codetag(line, recording, status=(0, 1)))


@functools.cache
def listed_packages():
    return [line for file in ("../packages.txt", "../../scripts/packages.txt")
            for line in Path(file).read_text(encoding="utf-8").splitlines()]


def is_listed(file, owners):
    """Whether the package of a file is in a list, or Debian cannot be without it"""
    package = next((line.partition(":")[0] for line in owners if line.endswith(file)), None)
    return package and (package in listed_packages()
                        or run("dpkg-query", "-W", "-f", "${Essential}", package).out == "yes")


def programs_of_tests():
    """The programs without which tests are skipped"""
    tests = [file.read_text(encoding="utf-8") for file in Path().glob("test_*.py")]
    return set(re.findall(r'\b(?:needs_program|which)\("([a-z][a-z0-9-]*)"\)', "\n".join(tests)))


def libraries_of_makefile():
    """The files of pkg-config, for the libraries without which tests are skipped"""
    makefile = Path("../Makefile").read_text(encoding="utf-8")
    names = re.findall(r"^\$\(eval \$\(call feature,[A-Z0-9]*,([^,]*)\)\)$", makefile, re.MULTILINE)
    return [Path(run("pkg-config", "--variable", "pcfiledir", name).out.strip(), f"{name}.pc")
            for name in " ".join(names).split()]


@needs_program("dpkg")
@named("docs/packages")
def test_packages():
    """If all listed packages are installed, no test is skipped for want of a program or a library."""
    programs = sorted(programs_of_tests() | {"gzip", "xz", "zstd"})
    libraries = libraries_of_makefile()
    assert len(programs) > 9 and len(libraries) > 5
    # dpkg takes long to begin.
    owners = run("dpkg", "-S", *(f"*bin/{name}" for name in programs), *libraries, status=(0, 1)).lines
    unpacked = [word.rpartition("/")[2]
                for line in Path("../packages-unpacked.txt").read_text(encoding="utf-8").splitlines()
                if not line.startswith("#") for word in line.split() if "/" in word]
    missing = [name for name in programs if not is_listed(f"bin/{name}", owners) and name not in unpacked]
    missing += [name for name in libraries if not is_listed(str(name), owners)]
    assert not missing, "no list has their packages"


@table(
    "text, line",
    ("docs/refuses/tree-group", "--group", f"report --tree {CODETAG_ALLOCINFO} -g dir"),
    ("docs/refuses/invert", "--invert", f"contexts --invert {SPLIT_CONTEXTS}"),
    ("docs/refuses/contexts-tree", "--tree", f"contexts --tree {SPLIT_CONTEXTS} -g age"),
    ("docs/refuses/contexts-stacks", "--stacks", f"contexts --stacks {SPLIT_CONTEXTS} -g age"),
    ("docs/refuses/account-group", "--account", f"contexts --account {SPLIT_CONTEXTS} -g age"),
    ("docs/refuses/trace-on-top", "--on", "trace --on -n 3 func x"),
    ("docs/refuses/trace-off-json", "--off", "trace --off --json --all"),
    ("docs/refuses/trace-on-pages", "--on", "trace --on --pages func x"),
    ("docs/refuses/trace-on-save", "--on", "trace --on --callers x func x"),
    ("docs/refuses/trace-on-headings", "--on", "trace --on -N func x"),
    ("docs/refuses/fault-times", "--times", "fault --times 0 func x"),
    ("docs/refuses/account-delay", "--account", f"contexts -d 2 {SPLIT_CONTEXTS}"),
    ("docs/refuses/contexts-id", "no ids", f"contexts {SPLIT_CONTEXTS} id 7"),
    ("docs/refuses/buffer", "--buffer", f"trace {OLD_TRACE} --buffer 1M"),
    ("docs/refuses/delay", "--delay", f"top --once -d 1 {CODETAG_ALLOCINFO}"),
    ("docs/refuses/slabs-sites--diff", "--sites",
     f"slabs --diff={MAINLINE_SLABINFO} --sites -f {CODETAG_SLABINFO} --allocinfo {CODETAG_ALLOCINFO}"),
    ("docs/refuses/slabs-sort", "'u' does not sort changes", "slabs --diff x -s u"),
    ("docs/refuses/slabs-delay", "--delay", "slabs -d 3"),
    *((f"docs/refuses/attr-{form}", "--attr", f"export --format {form} --attr calls {CODETAG_ALLOCINFO}")
      for form in ("csv", "json", "prometheus")),
    *((f"docs/refuses/headings-{line.split()[0]}", "--noheadings goes with --dry-run", line)
      for line in ("enable -N func x", "disable -N func x", "fault -N func x", "guard --off -N func x",
                   "split -N func x size")),
    *((f"docs/refuses/human-{line.split()[0]}", "invalid option -- 'H'", f"{line} -H")
      for line in ("status", "enable --dry-run --all", "fault --list", "sweep", "remembered")),
    *((f"docs/refuses/{command}-list", "--allocinfo goes with --dry-run",
       f"{command} --list --allocinfo {CODETAG_ALLOCINFO}") for command in ("fault", "guard")),
    *((f"docs/refuses/restore{option}", "--restore goes alone", f"split --restore {option}")
      for option in ("--dry-run", f"--allocinfo={V2}", "--json", "-N", "-oname", "depth=8")),
    *((f"docs/refuses/forget{option}", "--json and --noheadings", f"remembered --forget 1 {option}")
      for option in ("-j", "-N")),
    ("docs/refuses/ktap-headings", "--noheadings", "sweep --ktap -N -- true"),
    *((f"docs/refuses/human{option}", "--human is for tables", f"report -H {option} {V2}")
      for option in ("--json", "--csv")),
    ("docs/refuses/human-slabs", "--human is for tables", f"slabs -f {CODETAG_SLABINFO} --csv -H"),
    ("docs/refuses/human-merge", "--human is for tables", f"merge {V2} --csv -H"),
    *((f"docs/refuses/tree{option}", option.split("=")[0], f"report --tree {V2} {option}")
      for option in (f"--activity={V2_ACTIVITY}", "--group=site")),
    *((f"docs/refuses/machine{option}", "--meminfo", f"report {V2} --meminfo {CODETAG_MEMINFO} {option}")
      for option in ("--csv", "-N")),
    *((f"docs/refuses/alone-{kind}", "need --meminfo", f"report {V2} --{kind} {file}")
      for kind, file in (("slabinfo", CODETAG_SLABINFO), ("zoneinfo", CODETAG_ZONEINFO))),
    *((f"docs/refuses/activity-{words.split()[0]}", "--activity is for call sites",
       f"export --activity {V2_ACTIVITY} --format {words}")
      for words in (f"folded {V2}", f"speedscope {V2}", f"csv --trace {OLD_TRACE}")),
    *((f"docs/refuses/activity-{line.split()[0]}", "unrecognized option '--activity",
       f"{line} --activity={V2_ACTIVITY}")
      for line in (f"merge {V2}", f"chart -o x.svg {V2}")),
    *((f"docs/refuses/growth/{line.split()[0]}{line.split()[-1]}", "growth is between two snapshots", f"{line} {V2_LATER}")
      for line in ("report -s growth", "report -o name,growth", "report -o state", "export --format csv -s growth",
                   "top --once -s growth", "top --once -o state")),
    *((f"docs/refuses/peak/{line}", "only 'codetag report' of a recording", f"{line} -o peak {V2_LATER}")
      for line in ("top --once", f"diff {V1}")),
    ("docs/refuses/peak-hosts", "peaks are of groups", f"report -g host -o peak {V2_LATER}"),
    *((f"docs/refuses/hosts/{line}", "not of hosts", f"{line} -g host --activity {V2_ACTIVITY} {V2}")
      for line in ("report", "export --format json", "export --format prometheus")),
    ("docs/refuses/activity-two", "--activity is of one machine", f"report --activity {V2_ACTIVITY} {V2} {V2_LATER}"),
    ("docs/refuses/activity-as-csv", "--activity is for call sites as", f"export --format csv --activity {V2_ACTIVITY} {V2}"),
    ("docs/refuses/page-size-of-codetag", "--page-size is for files that count pages",
     f"contexts --page-size 4k {SPLIT_CONTEXTS}"),
    ("docs/refuses/raw-trace", "goes without --trace", f"export --trace {OLD_TRACE} --format folded --raw"),
    ("docs/refuses/number", "this command takes no number", f"slabs -f {CODETAG_SLABINFO}@1"),
    ("docs/refuses/stdin-recording", "cannot be read from standard input", "leaks -"),
    ("docs/refuses/folded-all", "--all", f"export --format folded --all {V2}"),
    *((f"docs/refuses/debugfs-{line.split()[0]}", "--debugfs", f"{line} --debugfs {HANDMADE_DEBUGFS}")
      for line in (f"top --once {V2}", f"export --format folded --contexts={SPLIT_CONTEXTS}", f"trace {OLD_TRACE}",
                   "whose --image x ffff888000028000")),
    ("docs/refuses/debugfs-record", "--debugfs", f"trace --record 1 --debugfs {HANDMADE_DEBUGFS}"),
    *((f"docs/refuses/top{option}", "go with --once", f"top {option} {V2}") for option in ("-j", "-N", "-oname")),
    ("docs/refuses/top-file-delay", "--delay", f"top --once -s allocs -d 1 {V2}"),
    ("docs/refuses/owners", "--owners goes with --json", f"where --owners 3 {CODETAG_MEMINFO}"),
    *((f"docs/refuses/prometheus{option}", "--prometheus", f"slabs --prometheus -f {CODETAG_SLABINFO} {option}")
      for option in (f"--allocinfo={CODETAG_ALLOCINFO}", "--alloc-traces=data/inputs/slab", "-b", "-H", "-N")),
    *((f"docs/refuses/graph{option}{form}", "--bytes", f"graph --image x {form} {option}")
      for option in ("-b", "-H", "-N") for form in ("--folded", "-ox.svg")),
    *((f"docs/refuses/page-size-{line.split()[0]}", "--page-size is for a file", f"{line} --page-size 4k")
      for line in ("contexts", "export --format folded --contexts", "chart -o x.svg --flame")),
    ("docs/refuses/contexts-json", "--columns", f"contexts --json -o name {SPLIT_CONTEXTS}"),
)
def test_refuses(text, line):
    """An option that would have no effect is refused, and the message names it."""
    refused(text, line)


@needs_feature("ncursesw")
@named("docs/refuses/slabs-sites--live")
def test_refuses_live_sites():
    refused("--sites", f"slabs --live --sites -f {CODETAG_SLABINFO} --allocinfo {CODETAG_ALLOCINFO}")


@needs_feature("sqlite3")
@table(
    "text, line",
    ("docs/refuses/human--sqlite", "--human is for tables", f"report -H --sqlite no.db {V2}"),
    ("docs/refuses/machine--sqlite", "--meminfo", f"report --sqlite no.db --meminfo {CODETAG_MEMINFO} {V2}"),
    *((f"docs/refuses/merge{option}", "--sqlite", f"merge --sqlite no.db {V2} {option}")
      for option in ("--all", "--raw", "--sort=size")),
)
def test_database_refuses(text, line):
    refused(text, line)
    assert not Path("no.db").exists()


@needs_feature("cairo")
@table("text, line",
       ("docs/refuses/page--size", "--size", f"-o no.html --size 500x400 {V2}"),
       ("docs/refuses/flame--size", "--size", f"-o no.html --size 500x400 --flame={SPLIT_CONTEXTS}"),
       ("docs/refuses/flame--debugfs", "--debugfs", f"-o no.svg --flame={SPLIT_CONTEXTS} --debugfs {HANDMADE_DEBUGFS}"),
       ("docs/refuses/ring-site", "--group", f"-o no.svg --kind ring --group site {V2}"),
       ("docs/refuses/static-site", "grouped by file", "-o no.svg --attr static --kind bars --group site x"))
def test_picture_refuses(text, line):
    refused(text, f"chart {line}")


@needs_feature("cairo")
@table("kind, option", *((f"docs/refuses/{kind}{option}", kind, option)
                         for option in ("-gdir", "-n3") for kind in ("ring", "treemap")))
def test_chart_refuses(work, kind, option):
    refused("--group", f"chart {option} --kind {kind} -o {work}/refused.svg {CODETAG_ALLOCINFO}")


@table("mode, option", *((f"docs/refuses/{mode.split()[0]}{option}", mode, option)
                         for option in ("-sname", "-n1", "--min=1M", "--max=1M", "-gdir", "-gsite", "-a")
                         for mode in ("list", "text 1")))
def test_replay_refuses(recording, mode, option):
    refused("--min", f"replay --{mode} {recording} {option}")


@table(
    "text, line",
    ("docs/refuses/list-delay", "--delay", "replay --list {} -d 1"),
    ("docs/refuses/text-json", "--json", "replay --text 1 {} --json"),
    ("docs/refuses/replay-two", "one of", "replay --text 1 --list {}"),
    ("docs/refuses/gauges-delay", "--delay", "replay --gauges {} -d 1"),
    *((f"docs/refuses/text{option}", text, f"replay --text 1 {{}} {option}")
      for option, text in (("-b", "--bytes"), ("-H", "--human"), ("-N", "--noheadings"))),
    ("docs/refuses/contexts-headings", "--noheadings", "replay --contexts 1 {} -N"),
    ("docs/refuses/replay-headings", "--noheadings", "replay {} -N"),
    ("docs/refuses/gauges-top", "--top", "replay --gauges {} -n 3"),
    ("docs/refuses/gauges-query", "query", "replay --gauges {} module ext4"),
    ("docs/refuses/contexts-query", "query", "replay --contexts 1 {} module ext4"),
    ("docs/refuses/leaks-sort", "invalid option -- 's'", "leaks {} -s name"),
    ("docs/refuses/leaks-count", "--count", "leaks {} -c 20"),
)
def test_refuses_of_recording(recording, text, line):
    refused(text, line.format(recording))


@table(
    "hint, line",
    *((f"docs/hints/missing-{line.split()[0]}", "For a query put a key before it", f"{line} no-such-file")
      for line in ("report", "top --once", f"diff {CODETAG_ALLOCINFO}", "export --format csv")),
    ("docs/hints/missing-trace", "/sys/kernel/tracing/trace", "trace no-such-file"),
    ("docs/hints/missing-slabs", "Without --slabinfo", "slabs -f no-such-file"),
    ("docs/hints/missing-audit", "looked for in", "audit no-such-file"),
)
def test_hints(hint, line):
    hints("No such", hint, line)


@needs_feature("sqlite3")
@named("docs/hints/missing-recording")
def test_hints_recording():
    hints("No such", "codetag record", "leaks no-such-file")


@needs_feature("libelf")
@named("docs/hints/missing-tree")
def test_hints_tree():
    hints("No such", "built", "static no-such-directory")


def hints(error, hint, line):
    """If a named file cannot be read, a hint says what to do."""
    result = refused(f"cannot read .*{error}", line)
    assert hint in result.err


@pytest.fixture
def public():
    """A directory that any user may enter"""
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o755)
        yield Path(path)


@needs_program("setpriv")
@named("docs/hints/root")
def test_hints_root(public):
    """A user who may not read the file"""
    program, secret = shutil.copy(CODETAG, public), public / "secret"
    shutil.copy(V1, secret)
    secret.chmod(0)
    user = () if os.getuid() else ("setpriv", "--reuid=65534", "--clear-groups")
    for words in ("report", "slabs -f", "trace"):
        result = run(*user, program, *words.split(), secret, status=2)
        assert re.search("cannot read .*Permission denied", result.err) and "needs root" in result.err, str(result)
