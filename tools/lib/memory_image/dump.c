// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/dump.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifdef HAVE_KDUMP
#include <libkdumpfile/kdumpfile.h>
#endif

#include "base/memory.h"
#include "base/text.h"

/* More than any dump has: one for each piece of memory. */
#define MAX_SEGMENTS 65536

/* Pages that libkdumpfile has decompressed, by the low bits of their number. */
#define CACHED_PAGES 4096

struct segment {
	uint64_t pa, len, offset;
};

/* Of a sparse file: data or a hole */
struct piece {
	uint64_t start, end;
	bool is_hole;
};

/* Successive reads need different ones: a system call for each would be slow. */
#define PIECES 8

struct dump {
	/* ELF: */
	const uint8_t *data;
	size_t len;
	bool mapped;
	struct segment *segment;
	size_t segments, last;
	bool sparse;		/* the file has holes */
	struct piece piece[PIECES];	/* the pieces of it that were looked at last */
	unsigned int next_piece;
	const char *info;	/* VMCOREINFO */
	size_t info_len;

	/* libkdumpfile: */
	void *kdump;
	int fd;
	uint64_t file_page;	/* bytes in a page as the file counts them */
	uint8_t *cache;
	uint64_t *cached;	/* address + 1 of each, 0: none */
	void *map;		/* of the pages that the file has, see page_map() */

	uint64_t (*registers)[DUMP_REGISTERS];	/* for each processor */
	size_t processors, processors_room;

	enum dump_machine machine;
	bool cut;		/* parts that the headers announce are missing */
	uint64_t end, size;
	uint8_t page[DUMP_PAGE];
};

/* Where a note with the state of a processor has its registers */
#define PRSTATUS_REGISTERS 112

/* How many registers a note has, and which is the stack pointer */
#define X86_64_REGISTERS 27
#define X86_64_SP 19
#define ARM64_REGISTERS 34
#define ARM64_SP 31
#define MAX_PROCESSORS 8192

#define FLAT_MAGIC "makedumpfile\0\0\0\0"

static const struct {
	const char *magic;
	size_t len;
} magics[] = {
	{ "KDUMP   ", 8 },
	{ "DISKDUMP", 8 },
	{ FLAT_MAGIC, 16 },
};

static inline bool is_flat(const char *head)
{
	return !memcmp(head, FLAT_MAGIC, 16);
}

static bool is_core(const void *head, size_t len)
{
	Elf64_Ehdr elf;

	if (len < sizeof(elf))
		return false;
	memcpy(&elf, head, sizeof(elf));
	return !memcmp(elf.e_ident, ELFMAG, SELFMAG) &&
	       elf.e_ident[EI_CLASS] == ELFCLASS64 && elf.e_ident[EI_DATA] == ELFDATA2LSB &&
	       elf.e_type == ET_CORE;
}

bool dump_is(const void *head, size_t len)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (len >= magics[i].len && !memcmp(head, magics[i].magic, magics[i].len))
			return true;
	return is_core(head, len);
}

/* ---- ELF ----------------------------------------------------------------------- */

/* The part of [offset, offset + len) that is in the file. */
static uint64_t within(const struct dump *dump, uint64_t offset, uint64_t len)
{
	if (offset >= dump->len)
		return 0;
	return len < dump->len - offset ? len : dump->len - offset;
}

static size_t registers_of(const struct dump *dump)
{
	return dump->machine == DUMP_ARM64 ? ARM64_REGISTERS : X86_64_REGISTERS;
}

size_t dump_stack_pointer(const struct dump *dump)
{
	return dump->machine == DUMP_ARM64 ? ARM64_SP : X86_64_SP;
}

static size_t padded(uint32_t len)
{
	return ((size_t)len + 3) & ~(size_t)3;
}

static void read_notes(struct dump *dump, uint64_t offset, uint64_t len)
{
	size_t registers = registers_of(dump) * sizeof(uint64_t);
	const uint8_t *at = dump->data + offset;
	Elf64_Nhdr note;

	for (len = within(dump, offset, len); len >= sizeof(note);) {
		size_t name, desc;

		memcpy(&note, at, sizeof(note));
		name = padded(note.n_namesz);
		desc = padded(note.n_descsz);
		at += sizeof(note);
		len -= sizeof(note);
		if (name > len || desc > len - name)
			return;
		if (note.n_namesz == sizeof("VMCOREINFO") && !memcmp(at, "VMCOREINFO", 11)) {
			dump->info = (const char *)at + name;
			dump->info_len = note.n_descsz;
		}
		if (note.n_type == NT_PRSTATUS && note.n_namesz == sizeof("CORE") &&
		    !memcmp(at, "CORE", sizeof("CORE")) && dump->processors < MAX_PROCESSORS &&
		    note.n_descsz >= PRSTATUS_REGISTERS + registers) {
			GROW(dump->registers, dump->processors, dump->processors_room);
			memset(dump->registers[dump->processors], 0, sizeof(*dump->registers));
			memcpy(dump->registers[dump->processors++], at + name + PRSTATUS_REGISTERS,
			       registers);
		}
		at += name + desc;
		len -= name + desc;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->pa > y->pa) - (x->pa < y->pa);
}

/* The same memory occurs twice if it has several virtual addresses: count it once. */
static void drop_overlaps(struct dump *dump)
{
	size_t kept = 0;

	for (size_t i = 0; i < dump->segments; i++) {
		struct segment s = dump->segment[i];

		if (s.pa + s.len <= dump->end)
			continue;
		if (s.pa < dump->end) {
			uint64_t twice = dump->end - s.pa;

			s = (struct segment){ s.pa + twice, s.len - twice, s.offset + twice };
		}
		dump->segment[kept++] = s;
		dump->size += s.len;
		dump->end = s.pa + s.len;
	}
	dump->segments = kept;
}

static const char *read_headers(struct dump *dump)
{
	size_t room = 0, count;
	Elf64_Ehdr elf;
	Elf64_Phdr head;

	if (!is_core(dump->data, dump->len))
		return "is no ELF core of a 64-bit machine";
	memcpy(&elf, dump->data, sizeof(elf));
	if (elf.e_machine == EM_X86_64)
		dump->machine = DUMP_X86_64;
	else if (elf.e_machine == EM_AARCH64)
		dump->machine = DUMP_ARM64;
	count = elf.e_phnum;
	if (count == PN_XNUM) {
		Elf64_Shdr first;

		if (within(dump, elf.e_shoff, sizeof(first)) != sizeof(first))
			return "is damaged: the number of its segments is missing";
		memcpy(&first, dump->data + elf.e_shoff, sizeof(first));
		count = first.sh_info;
	}
	if (elf.e_phentsize != sizeof(head) || count > MAX_SEGMENTS ||
	    within(dump, elf.e_phoff, count * sizeof(head)) != count * sizeof(head))
		return "is damaged: its program headers are not there";
	for (size_t i = 0; i < count; i++) {
		struct segment s;

		memcpy(&head, dump->data + elf.e_phoff + i * sizeof(head), sizeof(head));
		if (head.p_type == PT_NOTE)
			read_notes(dump, head.p_offset, head.p_filesz);
		s = (struct segment){ head.p_paddr, head.p_filesz, head.p_offset };
		if (head.p_type != PT_LOAD || !s.len)
			continue;
		s.len = within(dump, s.offset, s.len);
		dump->cut |= s.len < head.p_filesz;
		if (!s.len || s.pa + s.len < s.pa || s.pa + s.len > 1ULL << 52)
			continue;
		GROW(dump->segment, dump->segments, room);
		dump->segment[dump->segments++] = s;
	}
	if (!dump->segments)
		return dump->cut ? "is cut or incomplete: none of its memory is there" :
		       "has no memory in it";
	qsort(dump->segment, dump->segments, sizeof(*dump->segment), by_address);
	drop_overlaps(dump);
	/*
	 * If segments could share bytes, a small file could stand for much memory and much
	 * work.
	 */
	if (dump->size > dump->len)
		return "is damaged: several of its segments are the same part of the file";
	return NULL;
}

/* The segment with @pa, or the first one after it. */
static size_t find_segment(const struct dump *dump, uint64_t pa)
{
	size_t low = 0, high = dump->segments;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (dump->segment[middle].pa + dump->segment[middle].len <= pa)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The piece of a sparse file with @offset */
static const struct piece *piece_at(struct dump *dump, uint64_t offset)
{
	struct piece *piece = dump->piece;
	off_t data, end;

	for (; piece < dump->piece + PIECES; piece++)
		if (offset >= piece->start && offset < piece->end)
			return piece;
	piece = &dump->piece[dump->next_piece++ % PIECES];
	data = lseek(dump->fd, (off_t)offset, SEEK_DATA);
	if (data < 0 && errno == ENXIO)
		data = (off_t)dump->len;
	piece->is_hole = data > (off_t)offset;
	end = piece->is_hole ? data : lseek(dump->fd, (off_t)offset, SEEK_HOLE);
	piece->start = offset;
	piece->end = end > (off_t)offset ? (uint64_t)end : offset;
	return piece;
}

/*
 * How many bytes from @offset on are a hole. To read them would fill memory with zeros, and an image
 * can be larger than all memory there is.
 */
static uint64_t hole_at(struct dump *dump, uint64_t offset)
{
	const struct piece *piece = dump->sparse ? piece_at(dump, offset) : NULL;

	return piece && piece->is_hole ? piece->end - offset : 0;
}

static const void *elf_page(struct dump *dump, uint64_t pa)
{
	static const uint8_t zeros[DUMP_PAGE];
	const struct segment *s = &dump->segment[dump->last];
	bool any = false;

	if (pa < s->pa || pa - s->pa >= s->len) {
		dump->last = find_segment(dump, pa);
		if (dump->last == dump->segments)
			dump->last--;
		s = &dump->segment[dump->last];
	}
	if (pa >= s->pa && pa - s->pa < s->len && s->len - (pa - s->pa) >= DUMP_PAGE)
		return hole_at(dump, s->offset + (pa - s->pa)) >= DUMP_PAGE ? zeros : dump->data + s->offset + (pa - s->pa);

	/* Segments need not begin and end at pages: a page can be in several. */
	memset(dump->page, 0, DUMP_PAGE);
	for (; s < dump->segment + dump->segments && s->pa < pa + DUMP_PAGE; s++) {
		uint64_t from = s->pa > pa ? s->pa : pa;
		uint64_t to = s->pa + s->len < pa + DUMP_PAGE ? s->pa + s->len : pa + DUMP_PAGE;

		if (from >= to)
			continue;
		memcpy(dump->page + (from - pa), dump->data + s->offset + (from - s->pa),
		       to - from);
		any = true;
	}
	return any ? dump->page : NULL;
}

/* ---- libkdumpfile -------------------------------------------------------------- */

/* What dump_open() says when it fails. */
static char why_text[512];

static const char *const x86_64_names[DUMP_REGISTERS] = {
	"r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx",
	"rsi", "rdi", [X86_64_SP] = "rsp",
};

static const char *const arm64_names[DUMP_REGISTERS] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
	"x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
	"x27", "x28", "x29", "x30", [ARM64_SP] = "sp",
};

static const char *const *register_names(const struct dump *dump)
{
	return dump->machine == DUMP_ARM64 ? arm64_names : x86_64_names;
}

const char *dump_register_name(const struct dump *dump, size_t i)
{
	return register_names(dump)[i];
}

#ifdef HAVE_KDUMP

/* Parts of a flattened file, each with its place in the original; all numbers are big-endian */
#define FLAT_HEAD 4096
#define FLAT_COPY (1 << 20)

/* The place of uname -m in the header of a compressed file, after its magic and version */
#define MACHINE_LENGTH 65
#define MACHINE_AT (12 + 4 * MACHINE_LENGTH)

/* The size of the header, in that; behind it, the place of the first processor's note */
#define BLOCK_SIZE_AT 428
#define NOTES_AT 48

/* Bytes in a note with the state of a processor */
#define X86_64_PRSTATUS 336
#define ARM64_PRSTATUS 392

/* Reads all bytes, or fewer only at the end of the file. */
static size_t read_full(int fd, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;
	ssize_t got;

	while (done < len) {
		got = pread(fd, (char *)buf + done, len - done, (off_t)(offset + done));
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/*
 * Opens a file without a name. It can be as large as the memory of a machine, so it is not in
 * /tmp, which may be memory of this one. *@dir is the directory. Returns -1 with errno.
 */
static int open_nameless(const char **dir)
{
	const char *chosen = getenv("TMPDIR");
	struct text path = { 0 };
	int fd;

	*dir = chosen && *chosen ? chosen : "/var/tmp";
	text_printf(&path, "%s/codetag.XXXXXX", *dir);
	fd = mkostemp(path.s, O_CLOEXEC);
	if (fd >= 0)
		unlink(path.s);
	text_free(&path);
	return fd;
}

/* Returns false with errno. */
static bool write_full(int fd, const char *buf, size_t len, uint64_t offset)
{
	while (len) {
		ssize_t put = pwrite(fd, buf, len, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		buf += put;
		len -= (size_t)put;
		offset += (uint64_t)put;
	}
	return true;
}

static const char *no_room(const char *dir)
{
	snprintf(why_text, sizeof(why_text),
		 "is flattened, and cannot be put together in %.256s (see TMPDIR): %s", dir,
		 strerror(errno));
	return why_text;
}

/*
 * makedumpfile writes a flattened file to a pipe. Puts its parts in their places in a file
 * without a name, which is read instead.
 */
static const char *unflatten(struct dump *dump)
{
	const char *dir, *why = NULL;
	int whole = open_nameless(&dir);
	uint64_t at = FLAT_HEAD, piece[2];
	char *buf;

	if (whole < 0)
		return no_room(dir);
	buf = xmalloc(FLAT_COPY);
	while (!why) {
		uint64_t offset, left;

		if (read_full(dump->fd, piece, sizeof(piece), at) != sizeof(piece)) {
			why = "is incomplete: its end is missing";
			break;
		}
		at += sizeof(piece);
		offset = be64toh(piece[0]);
		left = be64toh(piece[1]);
		if (piece[0] == UINT64_MAX)
			break;
		while (left && !why) {
			size_t len = left < FLAT_COPY ? (size_t)left : FLAT_COPY;

			if (offset > INT64_MAX - len || read_full(dump->fd, buf, len, at) != len)
				why = "is incomplete: its end is missing";
			else if (!write_full(whole, buf, len, offset))
				why = no_room(dir);
			at += len;
			offset += len;
			left -= len;
		}
	}
	free(buf);
	if (why) {
		close(whole);
	} else {
		close(dump->fd);
		dump->fd = whole;
	}
	return why;
}

/*
 * The map of the pages that the file has, NULL: not known. libkdumpfile 0.5.1 crashes after many
 * reads of pages that makedumpfile has left out, so the map is asked first.
 */
static void *page_map(struct dump *dump)
{
	kdump_attr_t attr;

	if (kdump_get_attr(dump->kdump, KDUMP_ATTR_FILE_PAGEMAP, &attr) != KDUMP_OK ||
	    attr.type != KDUMP_BITMAP)
		return NULL;
	kdump_bmp_incref(attr.val.bitmap);
	return attr.val.bitmap;
}

static bool left_out(const struct dump *dump, uint64_t pa)
{
	unsigned char bit = 0;

	return dump->map && kdump_bmp_get_bits(dump->map, pa / dump->file_page, pa / dump->file_page,
					       &bit) == KDUMP_OK && !(bit & 1);
}

/* QEMU calls a machine other than x86 "Unknown", but its processors have different registers. */
static const char *machine_of_notes(const struct dump *dump)
{
	uint32_t block = 0;
	uint64_t notes = 0;
	Elf64_Nhdr note = { 0 };

	if (read_full(dump->fd, &block, sizeof(block), BLOCK_SIZE_AT) == sizeof(block) &&
	    read_full(dump->fd, &notes, sizeof(notes), block + NOTES_AT) == sizeof(notes) && notes &&
	    read_full(dump->fd, &note, sizeof(note), notes) == sizeof(note) && note.n_type == NT_PRSTATUS)
		return note.n_descsz == X86_64_PRSTATUS ? KDUMP_ARCH_X86_64 :
		       note.n_descsz == ARM64_PRSTATUS ? KDUMP_ARCH_AARCH64 : "";
	return "";
}

/* Sets the machine. If the library does not know it, the file's own header may tell. */
static void find_machine(struct dump *dump)
{
	char machine[MACHINE_LENGTH + 1] = "";
	const char *arch = "";

	if (kdump_get_string_attr(dump->kdump, KDUMP_ATTR_ARCH_NAME, &arch) != KDUMP_OK) {
		if (read_full(dump->fd, machine, MACHINE_LENGTH, MACHINE_AT) == MACHINE_LENGTH)
			arch = machine;
		if (strcmp(arch, KDUMP_ARCH_X86_64) && strcmp(arch, KDUMP_ARCH_AARCH64))
			arch = machine_of_notes(dump);
		kdump_set_string_attr(dump->kdump, KDUMP_ATTR_ARCH_NAME, arch);
	}
	kdump_clear_err(dump->kdump);
	if (!strcmp(arch, KDUMP_ARCH_X86_64))
		dump->machine = DUMP_X86_64;
	else if (!strcmp(arch, KDUMP_ARCH_AARCH64))
		dump->machine = DUMP_ARM64;
}

static const char *open_kdump(struct dump *dump)
{
	char head[DUMP_HEAD] = "";
	kdump_ctx_t *ctx = kdump_new();
	kdump_num_t frames = 0, page = 0;
	struct stat st;

	if (!ctx)
		abort();
	dump->kdump = ctx;
	if (read_full(dump->fd, head, sizeof(head), 0) && is_flat(head)) {
		const char *why = unflatten(dump);

		if (why)
			return why;
	}
	/* A read behind the end of a cut file fails; access to a mapping would raise SIGBUS. */
	if (kdump_set_number_attr(ctx, KDUMP_ATTR_FILE_MMAP_POLICY, KDUMP_MMAP_NEVER) != KDUMP_OK)
		return kdump_get_err(ctx);
	if (kdump_open_fd(ctx, dump->fd) != KDUMP_OK) {
		/* libkdumpfile 0.5.1 crashes when it frees a file that it could not open. */
		static kdump_ctx_t **unfreed;
		static size_t count;

		unfreed = xreallocarray(unfreed, count + 1, sizeof(*unfreed));
		unfreed[count++] = ctx;
		dump->kdump = NULL;
		return kdump_get_err(ctx);
	}
	find_machine(dump);
	/* Without it, libkdumpfile does not read VMCOREINFO. */
	kdump_set_string_attr(ctx, KDUMP_ATTR_OSTYPE, "linux");
	kdump_clear_err(ctx);
	/* QEMU counts the memory of arm64 in pages of 64 KiB, whatever the kernel's are. */
	dump->file_page = kdump_get_number_attr(ctx, KDUMP_ATTR_PAGE_SIZE, &page) == KDUMP_OK ? page : DUMP_PAGE;
	if (!dump->file_page || dump->file_page % DUMP_PAGE || dump->file_page > 1 << 20)
		return "has pages of a size that is not supported";
	if (kdump_get_number_attr(ctx, "max_pfn", &frames) != KDUMP_OK ||
	    !frames || frames > 1ULL << 40)
		return "does not say how much memory the machine has";
	/* The file has at least a bit for each page. */
	if (fstat(dump->fd, &st))
		return strerror(errno);
	if (frames / 8 > (uint64_t)st.st_size)
		return "is cut or damaged: too short for the memory that its header announces";
	dump->end = dump->size = frames * dump->file_page;
	dump->cache = xmalloc((size_t)CACHED_PAGES * DUMP_PAGE);
	dump->cached = xcalloc(CACHED_PAGES, sizeof(*dump->cached));
	dump->map = page_map(dump);
	kdump_clear_err(ctx);
	return NULL;
}

static const void *kdump_page(struct dump *dump, uint64_t pa)
{
	size_t i = pa / DUMP_PAGE % CACHED_PAGES, len = DUMP_PAGE;
	uint8_t *page = dump->cache + i * DUMP_PAGE;
	kdump_status status;

	if (dump->cached[i] == pa + 1)
		return page;
	/* A page that is left out is not zero: makedumpfile keeps one page for all of zeros. */
	if (left_out(dump, pa))
		return NULL;
	dump->cached[i] = 0;
	status = kdump_read(dump->kdump, KDUMP_MACHPHYSADDR, pa, page, &len);
	if (status != KDUMP_OK)
		kdump_clear_err(dump->kdump);
	if (status != KDUMP_OK) {
		dump->cut |= status != KDUMP_ERR_NODATA;
		return NULL;
	}
	dump->cached[i] = pa + 1;
	return page;
}

/* In the order of user_regs_struct, as far as they can hold pointers */
static void kdump_registers(struct dump *dump)
{
	const char *const *names = register_names(dump);
	kdump_num_t cpus = 0, value;

	if (kdump_get_number_attr(dump->kdump, KDUMP_ATTR_NUM_CPUS, &cpus) != KDUMP_OK)
		cpus = 0;
	for (; dump->processors < cpus && dump->processors < MAX_PROCESSORS; dump->processors++) {
		GROW(dump->registers, dump->processors, dump->processors_room);
		memset(dump->registers[dump->processors], 0, sizeof(*dump->registers));
		for (size_t i = 0; i < DUMP_REGISTERS; i++) {
			char name[64];

			snprintf(name, sizeof(name), "cpu.%zu.reg.%s", dump->processors,
				 names[i] ? names[i] : "");
			if (names[i] &&
			    kdump_get_number_attr(dump->kdump, name, &value) == KDUMP_OK)
				dump->registers[dump->processors][i] = value;
		}
	}
	kdump_clear_err(dump->kdump);
}

static void close_kdump(struct dump *dump)
{
	if (dump->map)
		kdump_bmp_decref(dump->map);
	if (dump->kdump)
		kdump_free(dump->kdump);
}

static bool kdump_info(struct dump *dump, const char *name, char **value)
{
	if (kdump_vmcoreinfo_line(dump->kdump, name, value) == KDUMP_OK)
		return true;
	kdump_clear_err(dump->kdump);
	return false;
}
#else
static const char *open_kdump(struct dump *dump)
{
	(void)dump;
	return "is compressed, and this build cannot read it (libkdumpfile)";
}

static const void *kdump_page(struct dump *dump, uint64_t pa)
{
	(void)dump;
	(void)pa;
	return NULL;
}

static void kdump_registers(struct dump *dump)
{
	(void)dump;
}

static void close_kdump(struct dump *dump)
{
	(void)dump;
}

static bool kdump_info(struct dump *dump, const char *name, char **value)
{
	(void)dump;
	(void)name;
	(void)value;
	return false;
}
#endif

/* ---- either kind of file ----------------------------------------------------------- */

struct dump *dump_open_memory(const void *data, size_t len, const char **why)
{
	struct dump *dump = xcalloc(1, sizeof(*dump));

	*dump = (struct dump){ .data = data, .len = len, .fd = -1 };
	*why = read_headers(dump);
	if (*why) {
		dump_close(dump);
		return NULL;
	}
	return dump;
}

/* Memory that changes while it is read: /proc/kcore, /dev/mem. That of /proc/vmcore stays. */
static bool is_running(int fd, const struct stat *st)
{
	char link[32], path[PATH_MAX];
	struct statfs fs;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path));
	return S_ISCHR(st->st_mode) ||
	       (len > 6 && !memcmp(path + len - 6, "/kcore", 6) && !fstatfs(fd, &fs) &&
		fs.f_type == PROC_SUPER_MAGIC);
}

struct dump *dump_open(const char *path, const char **why)
{
	struct dump *dump = xcalloc(1, sizeof(*dump));
	char head[DUMP_HEAD];
	struct stat st;
	ssize_t got;
	void *data;

	dump->fd = open(path, O_RDONLY | O_CLOEXEC);
	got = dump->fd < 0 || fstat(dump->fd, &st) ? -1 : pread(dump->fd, head, sizeof(head), 0);
	if (dump->fd >= 0 && is_running(dump->fd, &st)) {
		*why = "is the memory of a running machine, which changes while it is read; "
		       "without --image the kernel itself is asked";
	} else if (got < 0) {
		*why = strerror(errno);
	} else if (!is_core(head, (size_t)got)) {
		*why = dump_is(head, (size_t)got) ? open_kdump(dump) :
		       "is not an image of a machine's memory";
	} else {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, dump->fd, 0);
		if (data == MAP_FAILED) {
			*why = strerror(errno);
		} else {
			dump->data = data;
			dump->len = (size_t)st.st_size;
			dump->mapped = true;
			dump->sparse = (uint64_t)st.st_blocks * 512 < dump->len / 2;
			*why = read_headers(dump);
		}
	}
	if (*why) {
		/* The cached page may belong to a file that is closed now. */
		if (*why != why_text)
			snprintf(why_text, sizeof(why_text), "%s", *why);
		*why = why_text;
		dump_close(dump);
		return NULL;
	}
	return dump;
}

void dump_close(struct dump *dump)
{
	if (!dump)
		return;
	close_kdump(dump);
	if (dump->mapped)
		munmap((void *)dump->data, dump->len);
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump->segment);
	free(dump->registers);
	free(dump->cache);
	free(dump->cached);
	free(dump);
}

const void *dump_page(struct dump *dump, uint64_t pa)
{
	if (pa >= dump->end)
		return NULL;
	return dump->kdump ? kdump_page(dump, pa) : elf_page(dump, pa);
}

size_t dump_registers(struct dump *dump, const uint64_t (**registers)[DUMP_REGISTERS])
{
	if (dump->kdump && !dump->registers)
		kdump_registers(dump);
	*registers = (const uint64_t (*)[DUMP_REGISTERS])dump->registers;
	return dump->processors;
}

enum dump_machine dump_machine(const struct dump *dump)
{
	return dump->machine;
}

uint64_t dump_end(const struct dump *dump)
{
	return dump->end;
}

uint64_t dump_size(const struct dump *dump)
{
	return dump->size;
}

bool dump_is_cut(const struct dump *dump)
{
	return dump->cut;
}

bool dump_next(const struct dump *dump, uint64_t *pa)
{
	size_t i;

	if (*pa >= dump->end)
		return false;
	if (dump->kdump)
		return true;
	i = find_segment(dump, *pa);
	if (i == dump->segments)
		return false;
	if (*pa < dump->segment[i].pa)
		*pa = dump->segment[i].pa & ~(uint64_t)(DUMP_PAGE - 1);
	return true;
}

bool dump_next_data(struct dump *dump, uint64_t *pa)
{
	while (dump_next(dump, pa)) {
		const struct segment *s = dump->sparse ? &dump->segment[find_segment(dump, *pa)] : NULL;
		uint64_t hole = s && *pa >= s->pa ? hole_at(dump, s->offset + (*pa - s->pa)) : 0;

		/* The page with the end of a segment can be one of the next, too. */
		if (hole && hole > s->pa + s->len - *pa)
			hole = s->pa + s->len - *pa;
		if (hole < DUMP_PAGE)
			return true;
		*pa += hole - hole % DUMP_PAGE;
	}
	return false;
}

static bool read_number(const char *s, size_t len, int base, uint64_t *value)
{
	char text[20] = "", *end;

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, s, len);
	errno = 0;
	*value = strtoull(text, &end, base);
	return !errno && !*end;
}

bool dump_info(struct dump *dump, const char *name, int base, uint64_t *value)
{
	size_t len = strlen(name);
	const char *at = dump->info, *end = at ? at + dump->info_len : NULL;
	char *line = NULL;
	bool good;

	if (dump->kdump) {
		if (!kdump_info(dump, name, &line))
			return false;
		good = read_number(line, strlen(line), base, value);
		free(line);
		return good;
	}
	while (at && at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			stop = end;
		if ((size_t)(stop - at) > len && !memcmp(at, name, len) && at[len] == '=')
			return read_number(at + len + 1, (size_t)(stop - at) - len - 1, base, value);
		at = stop + 1;
	}
	return false;
}
