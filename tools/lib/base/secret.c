// SPDX-License-Identifier: GPL-2.0-only
#include "base/secret.h"

#include <sys/random.h>

#include "base/message.h"

const uint64_t *secrets(void)
{
	static uint64_t secret[SECRETS];

	if (!secret[0]) {
		if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
			die("there are no random numbers");
		for (int i = 0; i < SECRETS; i++)
			secret[i] |= 1;
	}
	return secret;
}
