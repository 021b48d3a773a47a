# SPDX-License-Identifier: GPL-2.0-only
"""The ioctls of /proc/allocinfo return the same as its text. helpers/pretend-ioctls.c stands for the kernel."""

import pytest

from inputs import CODETAG_ALLOCINFO
from support import HELPERS, SCRATCH, codetag, run, table

# A name that is as long as the kernel's buffer for it
TOO_LONG = f"a{0:062}"
UNUSUAL_SITES = """\
      123456        7 ./include/linux/gone.h:12 [gone] func:left_behind unloaded:yes 
         100        1 lib/maybe.c:5 func:not_all_of_it accurate:no 
         200        2 lib/longer_than_sixty_three_characters/so_that_it_does_not_fit/file.c:8 func:in_a_long_file 
         300        3 drivers/long.c:9 [long] func:a_function_whose_name_is_longer_than_sixty_three_characters_is_here 
"""


@pytest.fixture(scope="session")
def kernel():
    path = SCRATCH / "pretend-ioctls.so"
    run("gcc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-idirafter", "../../codetag/include/uapi",
        "-o", path, HELPERS / "pretend-ioctls.c")
    return path


@table(
    "asked, line",
    ("ioctl/func", "2 alloc_slab_page ", "report func alloc_slab_page"),
    ("ioctl/top", "2 alloc_slab_page ", "top --once -N func alloc_slab_page"),
    ("ioctl/raw", "2 alloc_slab_page ", "report --raw --json func alloc_slab_page"),
    ("ioctl/more", "2 alloc_slab_page ", "report file 'mm/*' line 1- func alloc_slab_page"),
    ("ioctl/none", "2 nobody_has_this_name ", "report --json func nobody_has_this_name"),
    ("ioctl/both", "3 left_behind gone", "report --json func left_behind module gone"),
    ("ioctl/module", "1  gone", "export --format csv module gone"),
    ("ioctl/builtin", "2 alloc_slab_page ", "report module vmlinux func alloc_slab_page"),
    ("ioctl/inaccurate", "2 not_all_of_it ", "report --json func not_all_of_it"),
    ("ioctl/tree", "2 alloc_slab_page ", "report --tree func alloc_slab_page"),
    ("ioctl/group", "2 alloc_slab_page ", "report --group dir func alloc_slab_page"),
    # Names that may have been cut: the text has them.
    ("ioctl/long", "2 in_a_long_file ", "report func in_a_long_file"),
    ("ioctl/long-func", "1  long", "report module long"),
)
def test_asked(work, clang, kernel, asked, line):
    """The kernel is asked, and the output is the same as without the ioctls."""
    assert asked_for(work, clang, kernel, line) == f"{asked}\n"


@table(
    "line",
    ("ioctl/too-long", f"report func {TOO_LONG}"),
    ("ioctl/glob", "report func 'alloc_slab*'"),
    ("ioctl/not", "report not func alloc_slab_page"),
    ("ioctl/two", "report 'func alloc_slab_page; func new_slab'"),
    ("ioctl/all", "top --once"),
    ("ioctl/host", "report --group host func alloc_slab_page"),
    ("ioctl/file", "report {text} func alloc_slab_page"),
)
def test_not_asked(work, clang, kernel, line):
    """A command that has no whole name, or needs more data, reads the text."""
    assert asked_for(work, clang, kernel, line) == ""


def asked_for(work, clang, kernel, line):
    """The requests to the kernel; without the ioctls the command prints the same."""
    text, asked = work / "text", work / "asked"
    text.write_text(CODETAG_ALLOCINFO.read_text() + UNUSUAL_SITES)
    asked.touch()

    def on_kernel(**env):
        return codetag(line.format(text=text), command=clang, merge=True,
                       env={"TEXT": text, "ASKED": asked, "LD_PRELOAD": kernel} | env)

    result = on_kernel()
    question = asked.read_text()
    plain = on_kernel(NO_IOCTL=1)
    assert result.out and result.out == plain.out
    return question
