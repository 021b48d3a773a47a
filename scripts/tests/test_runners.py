# SPDX-License-Identifier: GPL-2.0-only
"""Long builds and tests: their progress, and when they are ended."""

import os
import re
import shlex
import shutil
import signal
import subprocess

import pytest
from helpers import CACHE, KVER, ROOT, SCRIPTS, fails, named, outcome, program, run, runs, table, until, write

# --- the groups that there are ---


def groups():
    """The scripts that run without an argument."""
    rows = re.search(r'(?ms)^TABLE = """\n(.*?)^"""', (SCRIPTS / "run-tests").read_text()).group(1)
    for row in rows.splitlines():
        _, _, _, when, script, *_ = row.split()
        if when != "hand" and (when != "built" or outcome(SCRIPTS / script, "--built").status == 0):
            yield script


def would_run(*arguments):
    environment = {name: os.environ[name] for name in ("PATH", "HOME")} | {"CODETAG_CACHE": str(CACHE)}
    return subprocess.run([SCRIPTS / "run-tests", "-n", *arguments], env=environment, check=True, text=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


@named("run-tests: there are groups")
def test_groups():
    assert len(list(groups())) >= 8


@named("run-tests: no argument is every group")
def test_every_group():
    assert would_run() == list(groups())


@named("run-tests: an empty argument too")
def test_empty_argument():
    assert would_run("") == list(groups())


@table(
    "argument, command",
    ("run-tests: one group", "series", "check-series"),
    ("run-tests: one of a group", "storm/base/x", "test-storm base/x"),
)
def test_one_group(argument, command):
    assert would_run(argument) == [command]


@named("run-tests: a group that is none")
def test_no_group():
    assert "group of tests is called s.*" in fails(SCRIPTS / "run-tests", "-n", "s.*")


@named("run-tests: make test hands T on")
def test_make_test():
    """Also where the shell knows a file of that name."""
    assert "is called README* x" in fails("make", "-s", "-C", ROOT, "test", "T=README* x/y")


@named("test-scripts: a name")
def test_one_name():
    said = run(SCRIPTS / "test-scripts", "ktap: a[ln]*", timeout=60)
    assert said.splitlines() == ["KTAP version 1", "1..1", "ok 1 ktap: all good"]


@named("test-scripts: a name that is none")
def test_no_name():
    assert fails(SCRIPTS / "test-scripts", "tree: x", timeout=60).has(".*no test.* tree: x")


# --- made-up groups and a kernel of four files that takes PACE seconds for each ---

TABLE = '''TABLE = """
quick ktap 1 turn test-quick
slow ktap 1 beside test-slow
asked ktap 1 hand test-asked
made ktap 1 built test-made
last sum 0 turn test-last ahead
"""'''

MAKEFILE = r"""
allnoconfig: ; cp $(KCONFIG_ALLCONFIG) $(O)/.config
vmlinux:
	mkdir -p $(O)/include/config
	echo 1-fake >$(O)/include/config/kernel.release
	for i in 1 2 3 4; do sleep $(PACE); touch $(O)/$$i.o; done; sleep $(HANG)
kernelversion: ; @echo 1
bindeb-pkg:
	mkdir -p $(O)/certs
	[ -e $(O)/certs/signing_key.pem ] || date +%N >$(O)/certs/signing_key.pem
	cat $(O)/certs/signing_key.pem $(O)/.config >>$(KEYS)
"""


class Fake:
    """A copy of the scripts with these groups, and sources with that Makefile."""

    def __init__(self, work):
        self.work, self.repo, self.src, self.cache = work, work / "repo", work / "src", work / "cache"
        self.scripts = self.repo / "scripts"
        (self.repo / "codetag").mkdir(parents=True)
        shutil.copytree(SCRIPTS, self.scripts, symlinks=True)
        write(self.repo / "kernel-patches" / KVER / "series", "")
        version, level = KVER.split(".")
        write(self.src / "Makefile", f"VERSION = {version}\nPATCHLEVEL = {level}\nSUBLEVEL = 1\n{MAKEFILE}")
        write(self.scripts / "configs/fake.config", "# files: 4\nCONFIG_FAKE=y\n")
        for name in "install-packages", "build-command":
            program(self.scripts / name, "")
        runner = self.scripts / "run-tests"
        write(runner, re.sub(r'(?ms)^TABLE = """.*?^"""', TABLE, runner.read_text()), 0o755)
        program(self.scripts / "test-quick", """\
            echo 1..2; echo ok 1 a
            sleep ${PACE:-0}
            echo ok 2 b
            sleep ${HANG:-0}
            while [ -e "${HOLD:-}" ]; do sleep 0.1; done
            """)
        for name in "test-slow", "test-asked":
            program(self.scripts / name, "echo 1..1; sleep ${PACE:-0}; echo ok 1 a\n")
        program(self.scripts / "test-last", """\
            [ "$1" != --build ] || { echo ahead >>"${AHEAD:-/dev/null}"; exec sleep "${AHEAD_FOR:-0}"; }
            [ -z "$AHEAD" ] || { sleep 1; ! pgrep -f "sleep $AHEAD_FOR" || echo still; echo turn; } >>"$AHEAD"
            echo 3 passed, 0 failed
            """)
        program(self.scripts / "test-made", """\
            [ "$1" != --built ] || { test -e "$MADE"; exit; }
            echo 1..1; echo ok 1 a
            """)

    def environment(self, **env):
        return {"CODETAG_CACHE": self.cache, "KSRC": self.src, "DOING": "", "BUILT": "", **env}

    def call(self, script, *arguments, by=run, **env):
        return by(self.scripts / script, *arguments, **self.environment(**env))

    def tests(self, last_line, *arguments, by=None, **env):
        """Run tests; their last line is that."""
        by = by or (run if last_line.endswith(" 0 failed") else fails)
        said = self.call("run-tests", *arguments, by=by, **env)
        assert said.replace("\r", "").splitlines()[-1] == last_line, said
        return said

    def start(self, *arguments, **env):
        """Run tests beside this one; its output goes to a file."""
        environment = os.environ | {name: str(value) for name, value in self.environment(**env).items()}
        with open(self.work / "said", "wb") as said:
            # A shell's background commands ignore SIGINT, and we may be one.
            return subprocess.Popen([self.scripts / "run-tests", *arguments], env=environment,
                                    stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def on_terminal(*command, **options):
    words = shlex.join(map(str, command))
    return run("script", "-qec", words, "/dev/null", SHELL="/bin/bash", **options)


@pytest.fixture
def fake(work):
    return Fake(work)


@named("selftests: one that fails is in the status")
def test_selftest_fails(work):
    for name, status in ("good", 0), ("skipped", 4), ("bad", 1):
        program(work / name, f"exit {status}\n")
    guest = SCRIPTS / "guest/selftests.sh"
    where = {"SELFTESTS": work, "TMPDIR": work}
    assert "ok 2 skipped # SKIP" in run(guest, 1, "good", "skipped", **where)
    said = fails(guest, 1, "bad", "good", **where)
    assert "not ok 1 bad\n" in said and "\nok 2 good\n" in said


@named("deb: a disk that is too small is noticed")
def test_deb_room(fake):
    write(fake.repo / "packaging/debian/control", "Maintainer: A <a@b>\n")
    (fake.repo / "tools").mkdir()
    write(fake.scripts / "configs/deb-fake.config", "# disk: 900000\n")
    said = fake.call("build-deb", "fake", by=fails)
    assert "it takes 900000 GiB" in said and said.has(r"  [0-9.]+ GiB more are needed.*")


@named("deb: the key that signs modules does not stay")
def test_deb_key(fake):
    """The key of one build does not sign another one. Each build fails after it has used the key,
    because there is no package to move."""
    write(fake.repo / "packaging/debian/control", "Maintainer: A <a@b>\n")
    (fake.repo / "tools").mkdir()
    write(fake.scripts / "configs/deb-key.config", "# disk: 0\n# files: 4\nCONFIG_FAKE=y\n")
    own = write(fake.work / "own.pem", "")

    def keys(**env):
        file = fake.work / "keys"
        file.unlink(missing_ok=True)
        fake.call("build-deb", "key", by=fails, KEYS=file, PACE=0, HANG=0, **env)
        assert not list(fake.cache.glob("obj/**/deb-key/certs/*")), "the key stays"
        return file.read_text().splitlines()

    first, second = (next(line for line in keys() if line.isdigit()) for _ in range(2))
    assert first != second
    assert f'CONFIG_MODULE_SIG_KEY="{own}"' in keys(MODSIGN_KEY=own) and own.exists()
    # Nor does the one that was named sign the next build.
    last = keys()
    assert str(own) not in "".join(last) and any(line.isdigit() for line in last)


@named("packages: who becomes root is told")
def test_sudo(work):
    """Also if sudo asks for no password."""
    program(work / "bin/id", "echo 1000\n")
    for name in "sudo", "apt-get":
        program(work / "bin" / name, "")
    wanted = write(work / "wanted.txt", "no-such-package-at-all\n")
    said = outcome(SCRIPTS / "install-packages", wanted, PATH=f"{work}/bin:{os.environ['PATH']}")
    assert said.has(".*as root, with sudo: .*no-such-package-at-all.*")


@named("progress: a build on a terminal")
def test_build_on_terminal(fake):
    said = on_terminal(fake.scripts / "build-kernel", "fake", **fake.environment(PACE=3, HANG=0))
    assert re.search(r"\r +\d+ s  kernel: builds fake, [1-4] of about 4 files\x1b\[K", said), said
    assert re.search(r"\r\x1b\[K/.*/fake", said)


@named("progress: a build elsewhere")
def test_build_elsewhere(fake):
    said = fake.call("build-kernel", "fake", PROGRESS_EVERY=1, PACE=0.8, HANG=0)
    assert "\r" not in said
    assert len(re.findall(r"(?m)^ +\d+ s  kernel: builds fake, [0-4] of about 4 files$", said)) >= 2


@named("progress: nothing of a quick one")
def test_build_quick(fake):
    assert fake.call("build-kernel", "fake", PACE=0, HANG=0).count("\n") == 1


@named("progress: a hung build is ended")
def test_build_hung(fake):
    said = fake.call("build-kernel", "fake", by=fails, PACE=0, HANG=77.7, STALL=2)
    assert "ERROR: no new file and no new line in 2 s" in said and not runs("sleep 77.7")


@named("progress: a slow build is not")
def test_build_slow(fake):
    built = fake.work / "built"
    fake.call("build-kernel", "fake", BUILT=built, PACE=2, HANG=0, STALL=4)
    assert re.search(r"(?m)^fake 4 \d+$", built.read_text())


@named("progress: tests on a terminal")
def test_tests_on_terminal(fake):
    said = on_terminal(fake.scripts / "run-tests", **fake.environment(PACE=3))
    assert said.splitlines()[-1] == "6 passed, 0 failed"
    assert re.search(r"\r +\d+ s  quick, 1 passed; slow", said)


@named("progress: tests elsewhere")
def test_tests_elsewhere(fake):
    said = fake.tests("6 passed, 0 failed", PROGRESS_EVERY=1, PACE=3)
    assert said.has(r" +\d+ s  quick, 1 passed; slow")
    assert said.count(" passed, 0 failed, 0 skipped, ") == 3


@named("progress: a hung group is ended")
def test_hung_group(fake):
    said = fake.tests("2 passed, 1 failed", "quick", HANG=88.8, STALL=1)
    assert said.has("FAIL quick: nothing new for 2 s: ended") and not runs("sleep 88.8")


@named("progress: an end does not come for each process")
def test_exit_once(work):
    """A process that is killed right after its start does not do the last work of its parent."""
    script = program(work / "script", f"""\
        . {SCRIPTS}/lib.sh
        at_exit echo "the  end"
        waits() {{ sleep 9; }}
        for ((time = 0; time < 100; time++)); do
            waits &
            kill $!
            wait $! || true
        done
        """)
    assert run(script).splitlines() == ["the  end"]


@named("run-tests: ended, it leaves nothing behind")
def test_ended(fake):
    """Neither what a script has started in a process group of its own."""
    program(fake.scripts / "test-asked", "echo 1..1; timeout 1000 sleep 99.8 & sleep 99.9\n")
    for number in signal.SIGINT, signal.SIGTERM:
        process = fake.start("asked")
        until(lambda: runs("sleep 99.8") and runs("sleep 99.9"))
        process.send_signal(number)
        assert process.wait() == 128 + number
        assert not runs("sleep 99.8") and not runs("sleep 99.9")


@named("run-tests: a group by hand")
def test_by_hand(fake):
    assert fake.call("run-tests", "list").has(".*asked.*by hand.*")
    assert "asked" not in fake.call("run-tests", "-n")
    assert fake.call("run-tests", "-n", "asked") == "test-asked\n"
    fake.tests("1 passed, 0 failed", "asked")


@named("run-tests: a group whose kernels are not built")
def test_built(fake):
    """If the kernels of a group have not been built, it does not run, and a message says so."""
    made = fake.work / "made"
    said = fake.tests("6 passed, 0 failed")
    assert said.has("made .*not run.* make test T=made") and said.has("1 skipped.*")
    assert "made" not in fake.call("run-tests", "-n")
    fake.tests("1 passed, 0 failed", "made")
    write(made, "")
    fake.tests("7 passed, 0 failed", MADE=made)
    assert fake.call("run-tests", "-n", MADE=made).has("test-made")


@named("run-tests: what is built ahead")
def test_ahead(fake):
    """The build for a later group begins early, and the group continues it when it runs."""
    ahead = fake.work / "ahead"
    fake.tests("6 passed, 0 failed", AHEAD=ahead, AHEAD_FOR=66.6, PACE=2)
    assert ahead.read_text() == "ahead\nturn\n" and not runs("sleep 66.6")


@named("run-tests: a group runs once at a time")
def test_beside(fake):
    """In the same cache. Other groups may run at the same time, and have sums of their own."""
    hold, lock = write(fake.work / "hold", ""), fake.cache / "run/test-quick.lock"
    process = fake.start("quick", HOLD=hold)
    try:
        until(lambda: lock.exists() and " since " in lock.read_text())
        for arguments in ["quick"], []:
            said = fake.call("run-tests", *arguments, by=fails)
            assert said.has(r".*quick runs already in .*: .*make test T=quick, process \d+, since .*")
        fake.tests("1 passed, 0 failed", "asked")
    finally:
        hold.unlink()
        process.wait()
    assert (fake.work / "said").read_text().splitlines()[-1] == "2 passed, 0 failed"
    fake.tests("2 passed, 0 failed", "quick")
