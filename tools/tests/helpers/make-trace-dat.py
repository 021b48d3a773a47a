#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a trace.dat with stacks and pages out of one (version 6) that has neither.

Usage: make-trace-dat.py PLAIN.dat OUT.dat [big]

With "big" it is of a big-endian machine.

Two CPUs, whose events come between each other's events and their stacks.
"""
import re
import struct
import sys

PAGE = """name: %s
ID: %d
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:unsigned long pfn;	offset:8;	size:8;	signed:0;
	field:unsigned int order;	offset:16;	size:4;	signed:0;
	field:unsigned long gfp_flags;	offset:24;	size:8;	signed:0;

print fmt: "page=0 pfn=0x%%lx order=%%u%s", REC->pfn, REC->order%s
"""


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def string(self):
        return self.take(self.data.index(b"\0", self.at) + 1 - self.at)

    def number(self, kind):
        return struct.unpack("=" + kind, self.take(struct.calcsize("=" + kind)))[0]

    def sized(self, kind):
        return self.take(self.number(kind))


def sized(kind, data):
    return struct.pack(ORDER + kind, len(data)) + data


def offset(text, field):
    return int(re.search(rf"\b{field}(\[\d*\])?;\s*offset:(\d+);", text)[2])


plain, out = sys.argv[1:3]
ORDER = ">" if sys.argv[3:] == ["big"] else "="
r = Reader(open(plain, "rb").read())
head = r.take(10) + r.string()
order, long_size, page_size = r.take(1), r.take(1), r.number("I")
head += (b"\1" if ORDER == ">" else order) + long_size + struct.pack(ORDER + "I", page_size)
for _ in range(2):
    head += r.string() + sized("Q", r.sized("Q"))
own = [r.sized("Q").decode() for _ in range(r.number("I"))]
systems = {}
for _ in range(r.number("I")):
    name = r.string()
    systems[name] = [r.sized("Q").decode() for _ in range(r.number("I"))]
symbols, strings, tasks = r.sized("I"), r.sized("I"), r.sized("Q")

kmem = systems[b"kmem\0"]
kmem.append(PAGE % ("mm_page_alloc", 9001, " gfp_flags=%s",
                    ', __print_flags(REC->gfp_flags, "|", { 0xcc0UL, "GFP_KERNEL" })'))
kmem.append(PAGE % ("mm_page_free", 9002, "", ""))
formats = {re.search(r"name: (\w+)", text)[1]: text for text in own + kmem}
address = {}
for line in symbols.decode().splitlines():
    address.setdefault(line.split()[2], int(line.split()[0], 16))
functions = sorted(address)[:6]


def event(name, pid, fields, tail=b""):
    text = formats[name]
    data = bytearray(max(int(o) + int(s) for o, s in re.findall(r"offset:(\d+);\s*size:(\d+)", text)))
    struct.pack_into(ORDER + "H", data, 0, int(re.search(r"ID: (\d+)", text)[1]))
    struct.pack_into(ORDER + "i", data, 4, pid)
    for field, (kind, value) in fields.items():
        struct.pack_into(ORDER + kind, data, offset(text, field), value)
    if tail:
        data[offset(text, "caller"):] = tail
    data += bytes(-len(data) % 4)
    return bytes(data)


def malloc(pid, ptr, size):
    return event("kmalloc", pid, {"call_site": ("Q", address[functions[0]] + 9), "ptr": ("Q", ptr),
                                  "bytes_req": ("Q", size - 3), "bytes_alloc": ("Q", size)})


def page(pid, pfn, order):
    return event("mm_page_alloc", pid, {"pfn": ("Q", pfn), "order": ("I", order), "gfp_flags": ("Q", 0xcc0)})


def page_free(pid, pfn, order):
    return event("mm_page_free", pid, {"pfn": ("Q", pfn), "order": ("I", order)})


def stack(pid, *names):
    frames = [address[name] + 5 for name in names]
    fields = {"size": ("i", len(frames))} if " size;" in formats["kernel_stack"] else {}
    if not fields:
        frames.append(2 ** 64 - 1)
    return event("kernel_stack", pid, fields, struct.pack(f"{ORDER}{len(frames)}Q", *frames))


# (time, CPU, event): 20 pairs in step, the stack of each after the other's event. Then
# one without a stack, and one whose stack is deeper than the format says.
f = functions
events = []
for i in range(20):
    t = 1000 * (i + 1)
    events += [(t, 0, malloc(100, 0x10000 + 64 * i, 64)), (t + 1, 1, page(200, 0x500 + 16 * i, i % 3)),
               (t + 2, 0, stack(100, f[i % 2], f[2])), (t + 3, 1, stack(200, f[3 + i % 2], f[5])),
               (t + 4, 1, malloc(200, 0x90000 + 32 * i, 32)), (t + 5, 1, stack(200, f[4], f[0]))]
events += [(50000, 0, malloc(100, 0x77000, 128)), (50001, 1, page_free(200, 0x500, 0)),
           (50002, 1, malloc(200, 0x78000, 256)), (50003, 1, stack(200, *f, *f, *f))]

pages = []
for cpu in 0, 1:
    mine = [(t, data) for t, c, data in events if c == cpu]
    records, last = b"", mine[0][0]
    for t, data in mine:
        words = len(data) // 4
        kind, delta = words if words <= 28 else 0, t - last
        records += struct.pack(ORDER + "I", kind << 27 | delta if ORDER == ">" else delta << 5 | kind)
        if words > 28:
            records += struct.pack(ORDER + "I", len(data) + 4)
        records += data
        last = t
    assert len(records) <= 4080, len(records)
    pages.append(struct.pack(ORDER + "QQ", mine[0][0], len(records)) + records.ljust(4080, b"\0"))

head += struct.pack(ORDER + "I", len(own)) + b"".join(sized("Q", text.encode()) for text in own)
head += struct.pack(ORDER + "I", 1) + b"kmem\0" + struct.pack(ORDER + "I", len(kmem))
head += b"".join(sized("Q", text.encode()) for text in kmem)
head += sized("I", symbols) + sized("I", strings) + sized("Q", b"100 one\n200 two\n")
head += struct.pack(ORDER + "I", 2) + b"flyrecord\0"
data = (len(head) + 32 + 4095) // 4096 * 4096
head += struct.pack(ORDER + "QQQQ", data, 4096, data + 4096, 4096)
open(out, "wb").write(head.ljust(data, b"\0") + b"".join(pages))
