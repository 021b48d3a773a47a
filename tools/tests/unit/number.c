// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "unit.h"
#include "base/number.h"

void test_number(void)
{
	static const struct {
		const char *text;
		bool good;
		int64_t value;
	} reads[] = {
		{ "0", true, 0 },
		{ "12 ", true, 12 },
		{ "-12", true, -12 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "-9223372036854775809", false, 0 },
		{ "18446744073709551615", true, -1 },
		{ "18446744073709551616", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "+1", false, 0 },
		{ "x", false, 0 },
	}, sizes[] = {
		{ "100", true, 100 },
		{ "4k", true, 4096 },
		{ "1.5M", true, 1572864 },
		{ "2GiB", true, INT64_C(2) << 30 },
		{ "7B", true, 7 },
		{ "1e3", true, 1000 },
		{ "", false, 0 },
		{ "-1", false, 0 },
		{ "4q", false, 0 },
		{ "4kk", false, 0 },
		{ "99E", false, 0 },
		{ "nan", false, 0 },
	};
	static const struct {
		int64_t value;
		const char *text;
	} formats[] = {
		{ 0, "0" }, { 1023, "1023" }, { 1024, "1.0K" }, { 1536, "1.5K" },
		{ 1048575, "1.0M" }, { -2048, "-2.0K" }, { INT64_MAX, "8.0E" },
		{ INT64_MIN, "-8.0E" },
	};

	for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++) {
		const char *s = reads[i].text;
		int64_t value = 0;
		bool good = number_read(&s, &value);

		expect(good == reads[i].good && value == reads[i].value,
		       "number '%s'", reads[i].text);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		int64_t value = 0;
		bool good = size_parse(sizes[i].text, &value);

		expect(good == sizes[i].good && value == sizes[i].value,
		       "size '%s'", sizes[i].text);
	}
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		char out[SIZE_TEXT];

		expect(!strcmp(size_format(out, formats[i].value, true),
			       formats[i].text),
		       "format %" PRId64 " as %s", formats[i].value,
		       formats[i].text);
	}
	expect(add64(INT64_MAX, 1) == INT64_MAX, "add64 stops at the top");
	expect(add64(INT64_MIN, -1) == INT64_MIN, "add64 stops at the bottom");
	expect(sub64(INT64_MIN, 1) == INT64_MIN, "sub64 stops at the bottom");
	expect(sub64(0, INT64_MIN) == INT64_MAX, "sub64 stops at the top");
	expect(mul64(INT64_MIN, 2) == INT64_MIN, "mul64 stops at the bottom");
}
