# SPDX-License-Identifier: GPL-2.0-only
"""The files of a machine for codetag where, with numbers that are easy to add up."""

from support import codetag

K = 1024

MEMINFO = """\
MemTotal:        1000000 kB
MemFree:          524288 kB
Buffers:            1000 kB
Cached:           200000 kB
SwapCached:         3000 kB
Active:           150000 kB
Inactive:         151000 kB
Active(file):      90000 kB
Inactive(file):    80000 kB
Unevictable:           0 kB
AnonPages:        100000 kB
Shmem:             30000 kB
KReclaimable:      20500 kB
SReclaimable:      20000 kB
SUnreclaim:        {unreclaimable} kB
KernelStack:        4000 kB
PageTables:         5000 kB
VmallocUsed:       14000 kB
Percpu:             1000 kB
Hugetlb:           20480 kB
"""
VMSTAT = """\
nr_free_pages 131072
nr_zspages 500
nr_memmap_boot_pages 4096
"""
ZONEINFO = """\
Node 0, zone   Normal
  pages free     131072
        present  262144
        managed  250000
    cpu: 0
              count: 2560
"""


def make_host(path, unreclaimable=30000):
    """A machine of 1 GiB in pages of 4 KiB: 512 MiB are free, 10 MiB are on lists of CPUs."""
    proc = path / "proc"
    proc.mkdir(parents=True, exist_ok=True)
    (proc / "meminfo").write_text(MEMINFO.format(unreclaimable=unreclaimable))
    (proc / "vmstat").write_text(VMSTAT)
    (proc / "zoneinfo").write_text(ZONEINFO)
    return path


def where_json(path, **options):
    return codetag("where --json", path, **options).json()
