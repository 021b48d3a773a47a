# SPDX-License-Identifier: GPL-2.0-only
# The objects of one directory under a configuration. To be run in the
# object directory: make -f kbuild-objects.mk srctree=TREE SRCARCH=x86 obj=DIR
# prints a line for each object ("mm/slub.o") and for each directory to go on
# with ("mm/kfence").
objtree := .
srcroot := $(srctree)
src := $(srctree)/$(obj)
CC := gcc
BITS := 64
# The Makefiles above are not read here; they add this
ARCH_LIB := lib/ arch/$(SRCARCH)/lib/
ARCH_DRIVERS := arch/$(SRCARCH)/pci/ arch/$(SRCARCH)/power/ arch/$(SRCARCH)/video/

KBUILD_BUILTIN := 1
KBUILD_MODULES := 1
need-builtin := 1
need-modorder := 1

.PHONY: list
list:

include include/config/auto.conf
include $(srctree)/scripts/Kbuild.include
include $(or $(wildcard $(src)/Kbuild),$(src)/Makefile)
include $(srctree)/scripts/Makefile.lib

list:
	@:$(foreach x,$(sort $(real-obj-y) $(real-obj-m) $(lib-y) $(extra-y) $(always-y) $(subdir-ym)),$(info $(patsubst ./%,%,$(x))))
