// SPDX-License-Identifier: GPL-2.0
#include "image/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "read/input.h"

/* Objects that run elsewhere: at build time, before the kernel, in user space. */
static const char *const foreign[] = {
	"scripts/*", "tools/*", "usr/*", "certs/extract-cert*", "arch/*/boot/*",
	"arch/*/vdso/*", "arch/*/entry/vdso*", "arch/*/realmode/*",
	"arch/*/purgatory/*", "arch/*/tools/*", "samples/bpf/*",
	"drivers/firmware/efi/libstub/*", "vmlinux.o", ".tmp_*", "*/.tmp_*",
};

static bool is_foreign(const char *path)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		if (glob_match(foreign[i], path))
			return true;
	return false;
}

/*
 * Kbuild writes how it made dir/x.o to dir/.x.o.cmd, with a source_ line for
 * what was compiled and none for what was linked from other objects.
 */
static bool is_composite(const char *path, const char *name)
{
	struct text file = { 0 };
	bool composite = false;
	size_t len;
	char *text;

	text_add(&file, path, strlen(path) - strlen(name));
	text_printf(&file, ".%s.cmd", name);
	if (input_read(file.s, &text, &len)) {
		composite = strncmp(text, "source_", 7) && !strstr(text, "\nsource_");
		free(text);
	}
	text_free(&file);
	return composite;
}

int64_t footprint_total(const struct footprint *size)
{
	return add64(add64(size->text, size->rodata), add64(size->data, size->bss));
}

void footprint_add(struct footprint *to, const struct footprint *more)
{
	to->text = add64(to->text, more->text);
	to->rodata = add64(to->rodata, more->rodata);
	to->data = add64(to->data, more->data);
	to->bss = add64(to->bss, more->bss);
	to->tags = add64(to->tags, more->tags);
}

static void add_section(struct footprint *size, const GElf_Shdr *section,
			const char *name)
{
	int64_t bytes = section->sh_size < INT64_MAX ? (int64_t)section->sh_size :
						       INT64_MAX;

	if (!(section->sh_flags & SHF_ALLOC))
		return;
	if (section->sh_flags & SHF_EXECINSTR)
		size->text = add64(size->text, bytes);
	else if (section->sh_type == SHT_NOBITS)
		size->bss = add64(size->bss, bytes);
	else if (section->sh_flags & SHF_WRITE)
		size->data = add64(size->data, bytes);
	else
		size->rodata = add64(size->rodata, bytes);
	if (name && !strcmp(name, "alloc_tags"))
		size->tags = add64(size->tags, bytes);
}

static void read_symbols(struct objects *objects, Elf *elf, Elf_Scn *section,
			 const GElf_Shdr *header, const char *below)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; data && i < count && i < INT32_MAX; i++) {
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol) ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && *name)
			objects->function(objects->context, name, below);
	}
}

/* What clang leaves behind for link time optimisation. */
static bool is_bitcode(int fd)
{
	char head[4];

	return pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	       (!memcmp(head, "BC\xc0\xde", 4) || !memcmp(head, "\xde\xc0\x17\x0b", 4));
}

static bool read_object(struct objects *objects, struct footprint *size,
			const char *path, const char *below)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;
	bool good = false;
	Elf *elf;

	*size = (struct footprint){ 0 };
	if (fd < 0)
		return false;
	if (is_bitcode(fd)) {
		close(fd);
		objects->bitcode++;
		return true;
	}
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getshdrstrndx(elf, &names)) {
		good = true;
		while ((section = elf_nextscn(elf, section))) {
			if (!gelf_getshdr(section, &header)) {
				good = false;
				continue;
			}
			add_section(size, &header,
				    elf_strptr(elf, names, header.sh_name));
			if (header.sh_type == SHT_SYMTAB && objects->function)
				read_symbols(objects, elf, section, &header, below);
		}
	}
	elf_end(elf);
	close(fd);
	return good;
}

static void add_file(struct objects *objects, const char *path, const char *name,
		     size_t prefix)
{
	const char *below = path + prefix + (path[prefix] == '/');
	struct object_file object;
	size_t len = strlen(name);

	if (len > 3 && !strcmp(name + len - 3, ".ko") && objects->module)
		objects->module(objects->context, path);
	if ((len > 3 && !strcmp(name + len - 3, ".ko")) || !strcmp(below, "vmlinux.o")) {
		GROW(objects->linked, objects->links, objects->links_room);
		objects->linked[objects->links++] = xstrdup(path);
	}
	if (len < 3 || strcmp(name + len - 2, ".o") || is_foreign(below))
		return;
	if (is_composite(path, name)) {
		objects->composites++;
		return;
	}
	if (!read_object(objects, &object.size, path, below)) {
		objects->unreadable++;
		return;
	}
	object.path = xstrdup(below);
	GROW(objects->object, objects->count, objects->room);
	objects->object[objects->count++] = object;
}

/* After link time optimisation only what is linked has code: that is counted instead. */
static void take_linked(struct objects *objects, size_t prefix)
{
	for (size_t i = 0; i < objects->count; i++)
		free(objects->object[i].path);
	objects->count = 0;
	objects->function = NULL;	/* files are not told by it */
	for (size_t i = 0; i < objects->links; i++) {
		const char *path = objects->linked[i];
		struct object_file object;

		if (!read_object(objects, &object.size, path, path)) {
			objects->unreadable++;
			continue;
		}
		object.path = xstrdup(path + prefix + (path[prefix] == '/'));
		GROW(objects->object, objects->count, objects->room);
		objects->object[objects->count++] = object;
	}
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

bool objects_read(struct objects *objects, const char *dir)
{
	char *root = xstrdup(dir), *paths[] = { root, NULL };
	size_t prefix;
	FTSENT *entry;
	int error = 0;
	FTS *tree;

	for (prefix = strlen(root); prefix > 1 && root[prefix - 1] == '/'; )
		root[--prefix] = '\0';
	if (prefix == 1 && root[0] == '/')
		prefix = 0;
	elf_version(EV_CURRENT);
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	if (!tree) {
		free(root);
		return false;
	}
	while ((entry = fts_read(tree))) {
		if (entry->fts_info == FTS_F)
			add_file(objects, entry->fts_path, entry->fts_name, prefix);
		else if (!entry->fts_level &&
			 (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR))
			error = entry->fts_errno;
	}
	fts_close(tree);
	if (objects->bitcode)
		take_linked(objects, prefix);
	free(root);
	errno = error;
	return !error;
}

void objects_sites(const struct objects *objects, const char *func, struct allocinfo *info)
{
	for (size_t i = 0; i < objects->count; i++) {
		const char *path = objects->object[i].path;

		GROW(info->site, info->count, info->room);
		info->site[info->count++] = (struct site){
			.file = arena_copy(&info->strings, path, strlen(path)),
			.func = func,
			.bytes = footprint_total(&objects->object[i].size),
		};
	}
}

void objects_free(struct objects *objects)
{
	for (size_t i = 0; i < objects->count; i++)
		free(objects->object[i].path);
	free(objects->object);
	for (size_t i = 0; i < objects->links; i++)
		free(objects->linked[i]);
	free(objects->linked);
	*objects = (struct objects){ 0 };
}
