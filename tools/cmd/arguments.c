// SPDX-License-Identifier: GPL-2.0-only
#include "arguments.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/number.h"
#include "memory_image/report.h"

int64_t argument_number(const char *option, const char *arg, int64_t min, int64_t max,
			struct argp_state *state)
{
	const char *end = arg;
	bool digits = *arg && !arg[strspn(arg, "0123456789")];
	int64_t number = 0;
	bool good = number_read(&end, &number) && !*end;

	if ((digits && (!good || number < 0)) || (good && number > max))
		argp_error(state, "%s must be %lld or less, not '%s'", option, (long long)max, arg);
	else if (!good || number < min)
		argp_error(state, "%s must be %lld or more, not '%s'", option, (long long)min, arg);
	return number;
}

int64_t argument_size(const char *arg, struct argp_state *state)
{
	int64_t size = 0;

	if (!size_parse(arg, &size))
		argp_error(state, "'%s' is not a size", arg);
	return size;
}

int64_t argument_page_size(const char *arg, struct argp_state *state)
{
	int64_t size = argument_size(arg, state);

	if (size < 1024 || size & (size - 1))
		argp_error(state, "'%s' is not a page size", arg);
	return size;
}

const char *argument_database(const char *arg, struct argp_state *state)
{
	if (!*arg || *arg == ':' || !strcmp(arg, "-"))
		argp_error(state, "'%s' cannot be the name of a database", arg);
	return arg;
}

struct query *argument_query(const char *arg, struct argp_state *state)
{
	struct query_error error;
	struct query *query = query_parse(arg, &error);

	if (!query)
		argp_error(state, "in the query, '%s' at %zu: %s\n"
			   "A query is like: file fs/ext4/super.c line 1384, or module ext4 "
			   "func 'ext4_*'", error.token, error.at, error.why);
	return query;
}

double argument_seconds(const char *arg, struct argp_state *state)
{
	double seconds = 0;

	if (!seconds_parse(arg, &seconds))
		argp_error(state, "'%s' is not a number of seconds", arg);
	return seconds;
}

void argument_conflicts(const struct conflict *conflicts, size_t count,
			struct argp_state *state)
{
	for (size_t i = 0; i < count; i++)
		if (conflicts[i].holds)
			argp_error(state, "%s%s", conflicts[i].about ? conflicts[i].about : "",
				   conflicts[i].why);
}

void argument_image(const char *arg, struct argp_state *state)
{
	if (image_file(arg))
		return;
	if (access(arg, R_OK))
		argp_failure(state, STATUS_TROUBLE, errno, "%s", arg);
	else
		argp_failure(state, STATUS_TROUBLE, 0, "%s: is not an image of a machine's memory", arg);
}
