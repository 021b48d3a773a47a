# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the self-tests for a guest image and never writes here.
#
#   make -f FILE KDIR=OBJ OUT=DIR [CC=gcc] [CODETAG_MANY_SITES=2500]
#
# OBJ is a configured and built kernel object directory. The result is in
# DIR/selftests. README.rst says more.

here := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

ifeq ($(KDIR),)
$(error guest.mk: KDIR is not set)
endif
ifeq ($(OUT),)
$(error guest.mk: OUT is not set)
endif

CC ?= gcc
out := $(abspath $(OUT))
dest := $(out)/selftests
programs := $(wildcard $(here)/*.sh)
helpers := $(patsubst $(here)/helpers/%.c,%,$(wildcard $(here)/helpers/*.c))
# Definitions that the machine's own headers lack.
uapi := $(here)/../../../../include/uapi
sources := $(wildcard $(here)/module/*.[ch]) $(here)/module/Kbuild

all: modules helpers scripts

modules: | $(out)/build $(dest)
	cd $(out)/build && for f in $(sources); do \
		cmp -s $$f $${f##*/} || cp $$f . || exit 1; done
	$(MAKE) -C $(KDIR) M=$(out)/build modules
	cp $(out)/build/*.ko $(dest)/

helpers: $(addprefix $(dest)/bin/,$(helpers))

$(dest)/bin/%: $(here)/helpers/%.c | $(dest)/bin
	$(CC) -O2 -Wall -Wextra -static -idirafter $(uapi) -o $@ $<

scripts: | $(dest)
	cp $(wildcard $(here)/*.inc) $(here)/witness.txt $(programs) $(dest)/
	chmod 755 $(dest)/*.sh

$(out)/build $(dest) $(dest)/bin:
	mkdir -p $@

.PHONY: all modules helpers scripts
