/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands: each is one file and one function here. */
#ifndef CODETAG_COMMAND_H
#define CODETAG_COMMAND_H

int cmd_audit(int argc, char **argv);
int cmd_census(int argc, char **argv);
int cmd_chart(int argc, char **argv);
int cmd_contexts(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_disable(int argc, char **argv);
int cmd_enable(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_fault(int argc, char **argv);
int cmd_guard(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_holders(int argc, char **argv);
int cmd_leaks(int argc, char **argv);
int cmd_lost(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_remembered(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_reset(int argc, char **argv);
int cmd_slabs(int argc, char **argv);
int cmd_split(int argc, char **argv);
int cmd_static(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_where(int argc, char **argv);
int cmd_whose(int argc, char **argv);

#endif
