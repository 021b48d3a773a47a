// SPDX-License-Identifier: GPL-2.0-only
#include "image/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "read/input.h"

/*
 * Objects that are not part of the kernel: they run at build time, in the boot wrapper, or in
 * user space.
 */
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
 * Kbuild writes the command for dir/x.o to dir/.x.o.cmd. It has a source_ line for a compiled
 * file, and none for a file linked from other objects.
 */
static bool is_composite(const char *path, const char *name)
{
	struct text file = { 0 };
	bool composite = false;
	size_t len;
	char *text;

	text_add(&file, path, strlen(path) - strlen(name));
	text_printf(&file, ".%s.cmd", name);
	if (input_read_found(file.s, &text, &len)) {
		composite = strncmp(text, "source_", 7) && !strstr(text, "\nsource_");
		free(text);
	}
	text_free(&file);
	return composite;
}

int64_t footprint_total(const struct footprint *size)
{
	return add64(add64(add64(size->text, size->rodata), add64(size->data, size->bss)),
		     size->init);
}

void footprint_add(struct footprint *to, const struct footprint *more)
{
	to->text = add64(to->text, more->text);
	to->rodata = add64(to->rodata, more->rodata);
	to->data = add64(to->data, more->data);
	to->bss = add64(to->bss, more->bss);
	to->init = add64(to->init, more->init);
	to->tags = add64(to->tags, more->tags);
}

/* ".init.text", ".exit.data", ".initcall6.init", ".con_initcall.init" */
static bool is_init(const char *name)
{
	size_t len = strlen(name);

	return !strncmp(name, ".init", 5) || !strncmp(name, ".exit", 5) ||
	       (len > 5 && !strcmp(name + len - 5, ".init"));
}

/* Adds @bytes of a section to the sum of its kind. */
static void add_bytes(struct footprint *size, const GElf_Shdr *section, const char *name,
		      uint64_t count)
{
	int64_t bytes = count < INT64_MAX ? (int64_t)count : INT64_MAX;

	if (!(section->sh_flags & SHF_ALLOC))
		return;
	if (name && is_init(name))
		size->init = add64(size->init, bytes);
	else if (section->sh_flags & SHF_EXECINSTR)
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

/* The size of a symbol counts for the kind of its section. */
static bool symbol_size(struct footprint *size, Elf *elf, size_t names, const GElf_Sym *symbol)
{
	Elf_Scn *section = elf_getscn(elf, symbol->st_shndx);
	GElf_Shdr header;

	*size = (struct footprint){ 0 };
	if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC))
		return false;
	add_bytes(size, &header, elf_strptr(elf, names, header.sh_name), symbol->st_size);
	return true;
}

/* Sorted by place; of several names for one place the largest comes first. */
static int by_place(const void *a, const void *b)
{
	const GElf_Sym *x = a, *y = b;

	if (x->st_shndx != y->st_shndx)
		return x->st_shndx < y->st_shndx ? -1 : 1;
	if (x->st_value != y->st_value)
		return x->st_value < y->st_value ? -1 : 1;
	if (x->st_size != y->st_size)
		return x->st_size > y->st_size ? -1 : 1;
	return x->st_name < y->st_name ? -1 : x->st_name > y->st_name;
}

/* Aliases count once. */
static void read_sizes(struct objects *objects, Elf *elf, Elf_Scn *section,
		       const GElf_Shdr *header, size_t names, const char *below)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0, kept = 0;
	GElf_Sym *symbols;

	if (!data || count > INT32_MAX)
		return;
	symbols = xcalloc(count, sizeof(*symbols));
	for (size_t i = 0; i < count; i++) {
		GElf_Sym *symbol = &symbols[kept];
		int type;

		if (!gelf_getsym(data, (int)i, symbol))
			break;
		type = GELF_ST_TYPE(symbol->st_info);
		kept += (type == STT_FUNC || type == STT_OBJECT) && symbol->st_size &&
			symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE;
	}
	if (kept)
		qsort(symbols, kept, sizeof(*symbols), by_place);
	for (size_t i = 0; i < kept; i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbols[i].st_name);
		struct footprint size;

		if (i && symbols[i].st_shndx == symbols[i - 1].st_shndx &&
		    symbols[i].st_value == symbols[i - 1].st_value)
			continue;
		if (name && *name && symbol_size(&size, elf, names, &symbols[i]))
			objects->symbol(objects->context, name, &size, below);
	}
	free(symbols);
}

/* The linker puts the tags of a vmlinux into .data, between two symbols. */
static int64_t linked_tags(Elf *elf)
{
	uint64_t start = 0, stop = 0;
	Elf_Scn *section = NULL;
	bool any = false;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			any = true;
			if (name && !strcmp(name, "__start_alloc_tags"))
				start = symbol.st_value;
			else if (name && !strcmp(name, "__stop_alloc_tags"))
				stop = symbol.st_value;
		}
	}
	if (!any || stop < start || stop - start > INT64_MAX)
		return TAGS_UNKNOWN;
	return (int64_t)(stop - start);
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

/* Files that clang leaves for link time optimisation. */
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
	GElf_Ehdr head;
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
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &head) &&
	    head.e_type != ET_CORE && !elf_getshdrstrndx(elf, &names)) {
		good = true;
		while ((section = elf_nextscn(elf, section))) {
			if (!gelf_getshdr(section, &header)) {
				good = false;
				continue;
			}
			add_bytes(size, &header, elf_strptr(elf, names, header.sh_name),
				  header.sh_size);
			if (header.sh_type == SHT_SYMTAB && objects->symbol)
				read_sizes(objects, elf, section, &header, names, below);
			if (header.sh_type == SHT_SYMTAB && objects->function)
				read_symbols(objects, elf, section, &header, below);
		}
		if (head.e_type != ET_REL && !size->tags)
			size->tags = linked_tags(elf);
	}
	elf_end(elf);
	close(fd);
	return good;
}

/* "fs/ext4/ext4.mod" has the paths of the objects of the module ext4. */
static void read_parts(struct objects *objects, const char *path, const char *name)
{
	char *text, *save = NULL, *module = xstrdup(name);
	size_t len, number;

	module[strlen(module) - 4] = '\0';
	for (char *s = module; (s = strchr(s, '-')); )
		*s = '_';
	if (input_read_found(path, &text, &len)) {
		number = strmap_add(&objects->module_names, module, strlen(module));
		for (char *word = strtok_r(text, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
			size_t part = strmap_add(&objects->part, word, strlen(word));

			GROW(objects->module_of, part, objects->parts_room);
			objects->module_of[part] = number;
		}
		free(text);
	}
	free(module);
}

/* All .mod files have been read. */
static void find_modules(struct objects *objects)
{
	for (size_t i = 0; i < objects->count; i++) {
		const char *path = objects->object[i].path;
		size_t part = strmap_find(&objects->part, path, strlen(path));

		if (part != STRMAP_NONE)
			objects->object[i].module =
				objects->module_names.entry[objects->module_of[part]].key;
	}
}

static void add_object(struct objects *objects, const char *path, const char *below)
{
	struct object_file object = { 0 };

	if (!read_object(objects, &object.size, path, below)) {
		objects->unreadable++;
		return;
	}
	object.path = xstrdup(below);
	GROW(objects->object, objects->count, objects->room);
	objects->object[objects->count++] = object;
}

static void add_file(struct objects *objects, const char *path, const char *name,
		     size_t prefix)
{
	const char *below = path + prefix + (path[prefix] == '/');
	size_t len = strlen(name);

	if (len > 4 && !strcmp(name + len - 4, ".mod"))
		read_parts(objects, path, name);
	if (len > 3 && !strcmp(name + len - 3, ".ko") && objects->module_file)
		objects->module_file(objects->context, path);
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
	add_object(objects, path, below);
}

/* With link time optimisation only linked files have code: they are counted instead. */
static void take_linked(struct objects *objects, size_t prefix)
{
	for (size_t i = 0; i < objects->count; i++)
		free(objects->object[i].path);
	objects->count = 0;
	objects->function = NULL;	/* LTO has merged the files */
	for (size_t i = 0; i < objects->links; i++) {
		const char *path = objects->linked[i];

		add_object(objects, path, path + prefix + (path[prefix] == '/'));
	}
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

bool objects_read(struct objects *objects, const char *dir)
{
	char *root = xstrdup(dir), *paths[] = { root, NULL };
	struct stat st;
	size_t prefix;
	FTSENT *entry;
	int error = 0;
	FTS *tree;

	for (prefix = strlen(root); prefix > 1 && root[prefix - 1] == '/'; )
		root[--prefix] = '\0';
	if (prefix == 1 && root[0] == '/')
		prefix = 0;
	elf_version(EV_CURRENT);
	if (!stat(root, &st) && S_ISREG(st.st_mode)) {
		objects->single = true;
		if (access(root, R_OK)) {
			error = errno;
			free(root);
			errno = error;
			return false;
		}
		add_object(objects, root, root);
		free(root);
		return true;
	}
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
	find_modules(objects);
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
	free(objects->module_of);
	strmap_free(&objects->part);
	strmap_free(&objects->module_names);
	*objects = (struct objects){ 0 };
}
