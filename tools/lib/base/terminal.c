// SPDX-License-Identifier: GPL-2.0-only
#include "base/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/text.h"

/* A stream whose output is filtered. */
struct guarded {
	int fd;
	struct text left;	/* the beginning of a character */
};

static struct guarded output = { .fd = STDOUT_FILENO }, error = { .fd = STDERR_FILENO };
static FILE *unguarded;		/* standard output */

/* The escape sequences that the command itself writes. */
static size_t own_length(const char *s)
{
	static const char *const own[] = { "\n", "\t", "\r", "\033[1m", "\033[0m", "\033[K" };

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strncmp(s, own[i], strlen(own[i])))
			return strlen(own[i]);
	return text_safe_length(s);
}

/* The bytes at the end of @s that may begin a character. */
static size_t begun(const char *s, size_t len)
{
	size_t back = 0;

	while (back < 3 && back < len && (s[len - back - 1] & 0xc0) == 0x80)
		back++;
	if (back == len || (s[len - back - 1] & 0xc0) != 0xc0)
		return 0;
	return utf8_length(s + len - back - 1) ? 0 : back + 1;
}

static int write_all(int fd, const char *s, size_t len)
{
	while (len) {
		ssize_t some = write(fd, s, len);

		if (some < 0 && errno != EINTR)
			return -1;
		if (some > 0) {
			s += some;
			len -= (size_t)some;
		}
	}
	return 0;
}

static ssize_t write_safe(void *cookie, const char *data, size_t size)
{
	struct guarded *guarded = cookie;
	struct text *left = &guarded->left, out = { 0 };
	size_t keep, at = 0;
	int failed;

	text_add(left, data, size);
	keep = begun(left->s, left->len);
	while (at < left->len - keep) {
		size_t len = own_length(left->s + at);

		if (len && at + len <= left->len - keep) {
			text_add(&out, left->s + at, len);
			at += len;
		} else {
			len = utf8_length(left->s + at);
			text_add(&out, "?", 1);
			at += len ? len : 1;
		}
	}
	memmove(left->s, left->s + left->len - keep, keep);
	left->len = keep;
	left->s[keep] = '\0';
	failed = write_all(guarded->fd, out.s ? out.s : "", out.len);
	text_free(&out);
	if (failed || !keep)
		text_free(left);
	return failed ? 0 : (ssize_t)size;
}

static FILE *guard(struct guarded *guarded, int mode)
{
	FILE *stream = fopencookie(guarded, "w", (cookie_io_functions_t){ .write = write_safe });

	if (!stream)
		die("out of memory");
	setvbuf(stream, NULL, mode, BUFSIZ);
	return stream;
}

void terminal_guard(void)
{
	stderr = guard(&error, _IONBF);
	if (!isatty(STDOUT_FILENO))
		return;
	unguarded = stdout;
	stdout = guard(&output, _IOLBF);
}

void terminal_release(void)
{
	if (!unguarded)
		return;
	fclose(stdout);
	stdout = unguarded;
	unguarded = NULL;
}
