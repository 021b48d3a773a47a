# SPDX-License-Identifier: GPL-2.0-only
# Entry points. Each is a script in scripts/ that explains itself with --help.

KERNELS := $(patsubst kernel-patches/%/series,%,$(sort $(wildcard kernel-patches/*/series)))

help:
	@echo 'Targets:'
	@echo '  make run            build a kernel with the profiler, boot it, show what holds its memory'
	@echo '  make shell          the same kernel with a prompt'
	@echo '  make test           all tests; T=GROUP or T=GROUP/NAME some of them, T=list names the groups'
	@echo '  make bench          measure what the profiler costs; QUICK=1 takes minutes'
	@echo '  make series OUT=DIR write the complete patch series, ready for git am'
	@echo '  make deb            Debian packages of a kernel with the profiler, and of the command'
	@echo '  make packages       install the Debian packages that are missing'
	@echo '  make tree           make the patched kernel tree and print its path'
	@echo '  make clean          remove what was built (sources and compiler cache stay)'
	@echo '  make distclean      remove the whole cache'
	@echo
	@echo 'Variables:'
	@echo '  KVER=VERSION        one of the kernels that kernel-patches/ has a series for: $(KERNELS)'
	@echo '  ARCH=um             run and shell: user-mode Linux instead of QEMU'
	@echo '  ARCH=arm64          run, shell and test: that architecture, in QEMU'
	@echo '  FLAVOUR=NAME        run and shell: a configuration of scripts/configs/ (default base)'
	@echo '                      deb: cloud-amd64 (default), amd64, rt-amd64 or faults-amd64'
	@echo '  LSMOD=FILE          deb: only modules that are in FILE, which lsmod has made, for one machine'
	@echo '  MODSIGN_KEY=FILE    deb: sign the modules with this key, and not with one made for this build'
	@echo '  KSRC=DIR            a tree of your own, of the version KVER, which is never written to'
	@echo '  FAST_PATHS=n        leave out the fast-path series, in a tree of its own'
	@echo '  ACCEL=kvm|tcg       accelerator of QEMU (default: KVM where it works)'
	@echo '  APPEND=WORDS        run and shell: more kernel command line'
	@echo '  CODETAG_CACHE=DIR   where everything is made (default $${XDG_CACHE_HOME:-~/.cache}/codetag)'

export KVER KSRC LSMOD MODSIGN_KEY FAST_PATHS ACCEL FLAVOUR APPEND T QUICK

# ARCH is for our scripts; a kernel's make is told by them.
run shell:
	@ARCH='$(ARCH)' scripts/run-demo $@

# run-tests installs what is missing, but needs Python itself.
test:
	@command -v python3 >/dev/null || ARCH='$(ARCH)' scripts/install-packages
	@ARCH='$(ARCH)' scripts/run-tests "$$T"

bench:
	@benchmarks/run-bench

series:
	@scripts/export-series '$(OUT)'

deb:
	@scripts/install-packages
	@scripts/build-deb $(FLAVOUR)

packages:
	@scripts/install-packages

tree:
	@scripts/kernel-tree

clean distclean:
	@scripts/clean $@

.PHONY: help run shell test bench series deb packages tree clean distclean
