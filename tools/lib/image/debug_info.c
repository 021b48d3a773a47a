// SPDX-License-Identifier: GPL-2.0-only
#include "image/debug_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

/* Deeper than functions are ever inlined into each other. */
#define MAX_DEPTH 200

struct debug_image {
	char *path;
	bool opened;	/* or tried */
	Dwfl *dwfl;
	Dwarf_Addr bias;	/* the difference between symbols and DWARF */

	struct unit {
		Dwarf_Addr low, high;
		Dwarf_Die die;
	} *unit;	/* by address */
	size_t units, unit_room;

	struct function {
		const char *name;
		GElf_Addr address;
		GElf_Xword size;
	} *function;	/* by name */
	size_t functions, function_room;
};

/* An image whose debug information is in another file has none; nothing is downloaded. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
			  Dwarf_Addr base, const char *file, const char *link,
			  GElf_Word crc, char **found)
{
	(void)module, (void)data, (void)name, (void)base;
	(void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static int by_address(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct function *)a)->name,
		      ((const struct function *)b)->name);
}

static void read_units(struct debug_image *image, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		Dwarf_Addr base, low, high;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(&die, at, &base, &low, &high)) > 0) {
			GROW(image->unit, image->units, image->unit_room);
			image->unit[image->units++] = (struct unit){ low, high, die };
		}
	}
	if (image->units)
		qsort(image->unit, image->units, sizeof(*image->unit), by_address);
}

static void read_functions(struct debug_image *image, Dwfl_Module *module)
{
	int count = dwfl_module_getsymtab(module);

	for (int i = 0; i < count; i++) {
		GElf_Addr address;
		GElf_Sym symbol;
		const char *name = dwfl_module_getsym_info(module, i, &symbol, &address,
							   NULL, NULL, NULL);

		if (!name || !*name || symbol.st_shndx == SHN_UNDEF ||
		    (GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE))
			continue;
		GROW(image->function, image->functions, image->function_room);
		image->function[image->functions++] =
			(struct function){ name, address, symbol.st_size };
	}
	if (image->functions)
		qsort(image->function, image->functions, sizeof(*image->function), by_name);
}

/* -1 if it is no ordinary file: a pipe in a directory is waited for by nobody. */
static int open_ordinary(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return -1;
}

static void open_image(struct debug_image *image)
{
	Dwfl_Module *module;
	int fd;
	const char *link;
	const void *id;
	Dwarf *dwarf;

	if (image->opened)
		return;
	image->opened = true;
	fd = open_ordinary(image->path);
	image->dwfl = fd < 0 ? NULL : dwfl_begin(&callbacks);
	module = image->dwfl ? dwfl_report_offline(image->dwfl, "", image->path, fd) : NULL;
	if (!module && fd >= 0)
		close(fd);
	if (!module || dwfl_report_end(image->dwfl, NULL, NULL))
		return;
	dwarf = dwfl_module_getdwarf(module, &image->bias);
	/* libdw would open whatever file such a link names. */
	if (!dwarf || dwelf_dwarf_gnu_debugaltlink(dwarf, &link, &id))
		return;
	read_units(image, dwarf);
	if (image->units)
		read_functions(image, module);
}

/* Removes "." and "..", as far as the path alone tells where they lead. */
static void normalize(char *path)
{
	char *to = path, *from = path;

	while (*from) {
		size_t len = strcspn(from, "/") + 1;	/* with its slash */

		if (!from[len - 1])
			len--;
		if (!strncmp(from, "./", len) || (len == 1 && *from == '/' && to != path)) {
			/* nothing */
		} else if (!strncmp(from, "../", 3) && to > path + 1) {
			for (to--; to > path && to[-1] != '/'; to--)
				;
		} else {
			memmove(to, from, len);
			to += len;
		}
		from += len;
	}
	*to = '\0';
}

/* The path of @name in @unit, from the root of the file system. */
static char *whole_path(Dwarf_Die *unit, const char *name)
{
	Dwarf_Attribute attribute;
	const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	struct text path = { 0 };

	if (*name != '/' && dir)
		text_printf(&path, "%s/", dir);
	text_puts(&path, name);
	normalize(path.s);
	return path.s;
}

/* Every kernel has an init/main.c: its directory gives the root of the tree. */
static void find_root(struct debug_info *info, const char *build)
{
	static const char known[] = "/init/main.c";
	const struct debug_image *kernel = &info->image[0];
	char *real = realpath(build, NULL);
	struct text root = { 0 };

	for (size_t i = 0; i < kernel->units; i++) {
		const char *name = dwarf_diename(&kernel->unit[i].die);
		char *path = name ? whole_path(&kernel->unit[i].die, name) : NULL;
		size_t len = path ? strlen(path) : 0;

		if (len >= sizeof(known) - 1 && !strcmp(path + len + 1 - sizeof(known), known) &&
		    (!info->root || len + 2 - sizeof(known) < strlen(info->root))) {
			free(info->root);
			info->root = path;
			path[len + 2 - sizeof(known)] = '\0';
		} else {
			free(path);
		}
	}
	if (!info->root) {
		text_printf(&root, "%s/", real ? real : build);
		info->root = root.s;
	}
	free(real);
}

void debug_info_add_module(struct debug_info *info, const char *path)
{
	GROW(info->image, info->count, info->room);
	info->image[info->count++] = (struct debug_image){ .path = xstrdup(path) };
}

bool debug_info_open(struct debug_info *info, const char *build)
{
	struct text path = { 0 };

	*info = (struct debug_info){ 0 };
	strmap_add(&info->files, "", 0);	/* number 0: one of several */
	text_printf(&path, "%s/vmlinux", build);
	debug_info_add_module(info, path.s);
	text_free(&path);
	open_image(&info->image[0]);
	find_root(info, build);
	return info->image[0].units;
}

static Dwarf_Die *find_unit(struct debug_image *image, Dwarf_Addr pc)
{
	size_t low = 0, high = image->units;

	if (!high || pc < image->unit[0].low)
		return NULL;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (image->unit[middle].low <= pc)
			low = middle;
		else
			high = middle;
	}
	return pc < image->unit[low].high ? &image->unit[low].die : NULL;
}

struct search {
	Dwarf_Addr pc;
	Dwarf_Die function;
	bool found;
};

static int is_function(Dwarf_Die *die, void *data)
{
	struct search *search = data;

	if (dwarf_haspc(die, search->pc) <= 0)
		return DWARF_CB_OK;
	search->function = *die;
	search->found = true;
	return DWARF_CB_ABORT;
}

/* Whether a call below @die returns to @pc. */
static bool has_call(Dwarf_Die *die, Dwarf_Addr pc, int depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr returns;
	Dwarf_Die child;

	if (depth > MAX_DEPTH || dwarf_child(die, &child))
		return false;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_call_site:
			if (!dwarf_formaddr(dwarf_attr(&child, DW_AT_call_return_pc,
						       &attribute), &returns) &&
			    returns == pc)
				return true;
			break;
		case DW_TAG_GNU_call_site:
			if (!dwarf_lowpc(&child, &returns) && returns == pc)
				return true;
			break;
		default:
			if (has_call(&child, pc, depth + 1))
				return true;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/*
 * The file of the function that the return address @address is in; STRMAP_NONE if there is
 * none. A function in a header belongs to the file that includes it.
 */
static size_t file_at(struct debug_info *info, struct debug_image *image,
		      GElf_Addr address, bool *is_call)
{
	/*
	 * The call may be the last instruction of a function: then the return address is behind
	 * it.
	 */
	struct search search = { .pc = address - image->bias - 1 };
	Dwarf_Die *unit = find_unit(image, search.pc);
	const char *name = unit ? dwarf_diename(unit) : NULL, *file = NULL;
	size_t len = strlen(info->root), number;
	char *path;

	if (!name)
		return STRMAP_NONE;
	dwarf_getfuncs(unit, is_function, &search, 0);
	if (search.found) {
		file = dwarf_decl_file(&search.function);
		*is_call = has_call(&search.function, search.pc + 1, 0);
	}
	if (!file || (strlen(file) > 2 && !strcmp(file + strlen(file) - 2, ".h")))
		file = name;
	path = whole_path(unit, file);
	file = strncmp(path, info->root, len) ? path : path + len;
	number = strmap_add(&info->files, file, strlen(file));
	free(path);
	return number;
}

/* The file of @name + @offset in @image; 0 if several are possible. */
static size_t file_of(struct debug_info *info, struct debug_image *image,
		      const char *name, uint64_t offset)
{
	struct function key = { .name = name }, *function;
	size_t found = STRMAP_NONE;
	bool certain = false;

	open_image(image);
	function = image->functions ? bsearch(&key, image->function, image->functions,
					      sizeof(key), by_name) : NULL;
	if (!function)
		return found;
	while (function > image->function && !strcmp(function[-1].name, name))
		function--;
	for (; function < image->function + image->functions &&
	     !strcmp(function->name, name); function++) {
		bool is_call = false;
		size_t file;

		if (offset > function->size)
			continue;
		file = file_at(info, image, function->address + (offset ? offset : 1),
			       &is_call);
		if (file == STRMAP_NONE || (certain && !is_call))
			continue;
		found = found == STRMAP_NONE || (is_call && !certain) || found == file ? file : 0;
		certain |= is_call;
	}
	return found;
}

/* "…/fs/ext4/ext4.ko" is the module "ext4"; in names '-' and '_' are the same. */
static bool is_module(const char *path, const char *name, size_t len)
{
	const char *base = strrchr(path, '/') + 1;

	for (size_t i = 0; i < len; i++)
		if (base[i] != name[i] && (base[i] != '-' || name[i] != '_'))
			return false;
	return !strcmp(base + len, ".ko");
}

/* Whether the image at @path, such as @build/fs/ext4/ext4.ko, is beside fs/ext4/inode.o. */
static bool is_beside(const char *path, const char *build_vmlinux, const char *object)
{
	size_t build = strlen(build_vmlinux) - strlen("vmlinux");
	const char *slash = strrchr(object, '/');
	size_t dir = slash ? (size_t)(slash - object) + 1 : 0;

	return !strncmp(path, build_vmlinux, build) &&
	       !strncmp(path + build, object, dir) && !strchr(path + build + dir, '/');
}

const char *debug_info_file(struct debug_info *info, const char *site, const char *object)
{
	const char *module = strstr(site, " ["), *plus = strchr(site, '+');
	size_t found = STRMAP_NONE;
	uint64_t offset;
	bool is_call;
	char *end, *name;

	errno = 0;
	offset = strtoull(site, &end, 16);
	if (end != site && !*end && !errno) {
		found = file_at(info, &info->image[0], offset, &is_call);
		return found == STRMAP_NONE ? NULL : info->files.entry[found].key;
	}
	offset = plus ? strtoull(plus + 1, NULL, 16) : 0;
	name = xstrdup(site);
	name[strcspn(name, "+ ")] = '\0';
	if (!module)
		found = file_of(info, &info->image[0], name, offset);
	for (size_t i = 1; i < info->count && found == STRMAP_NONE; i++) {
		const char *path = info->image[i].path;

		if (module ? is_module(path, module + 2, strcspn(module + 2, "]")) :
		    object && *object && is_beside(path, info->image[0].path, object))
			found = file_of(info, &info->image[i], name, offset);
	}
	free(name);
	return found == STRMAP_NONE ? NULL : info->files.entry[found].key;
}

void debug_info_close(struct debug_info *info)
{
	for (size_t i = 0; i < info->count; i++) {
		struct debug_image *image = &info->image[i];

		dwfl_end(image->dwfl);
		free(image->path);
		free(image->unit);
		free(image->function);
	}
	free(info->image);
	free(info->root);
	strmap_free(&info->files);
	*info = (struct debug_info){ 0 };
}
