/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows and records that the BPF programs send to the agent. Both sides compile this header: plain C, no padding.
 * Times are nanoseconds; start times are CLOCK_BOOTTIME; pids are those of the machine's first pid namespace. */
#ifndef KEPLER_BPF_ABI_H
#define KEPLER_BPF_ABI_H

#ifdef __cplusplus
#include <linux/types.h>
#define KEPLER_ASSERT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes))
#else
#define KEPLER_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "abi")
#endif

enum {
  KEPLER_COUNTERS = 3, /* cycles, instructions, cache misses, in this order */
  KEPLER_COMM_BYTES = 16,
  KEPLER_PATH_BYTES = 256,
  KEPLER_CGROUP_PATH_BYTES = 1024,
  KEPLER_SOON_NS = 100000000,      /* maximum delay of a record after the end of a task, except in a storm of ends */
  KEPLER_MIN_RING_BYTES = 1 << 19, /* ring sizes are powers of two */
  KEPLER_MAX_RING_BYTES = 1 << 22
};

/* One thread. A row of the iterator has current values, a KEPLER_TASK_FREED record the values after the last switch. */
struct kepler_task {
  __u64 ran;            /* se.sum_exec_runtime */
  __u64 group_ran_dead; /* signal->sum_sched_runtime: time of dead threads of the process, a few us too low; read
                           before `ran` */
  __u64 start;          /* iterator: start of the process (its leader); record: start of the thread */
  __u64 group;          /* id of the process, unique until all its threads are freed */
  __u64 cgroup_v2;      /* kernfs id (the inode of the directory); 0: unknown */
  __u64 cgroup_cpuacct; /* kernfs id in v1's cpuacct hierarchy; 0: not enabled */
  __u64 counters[KEPLER_COUNTERS];
  __s32 tid;
  __s32 tgid;
  __s32 parent_tgid; /* KEPLER_KERNEL_THREAD for a kernel thread; only a hint in a record */
  __u32 uid;         /* real user id in the machine's first user namespace; KEPLER_UNKNOWN_UID */
  char comm[KEPLER_COMM_BYTES];
};
KEPLER_ASSERT_SIZE(kepler_task, 104);

/* In place of the parent: the parent of a kernel thread executes no program. */
#define KEPLER_KERNEL_THREAD (-1)
/* The agent did not enable with_uids. No user has this id (chown(2)). */
#define KEPLER_UNKNOWN_UID 0xffffffffU

/* Row of the iterator "executables": the program of a process. */
struct kepler_executable {
  __u64 start;
  __s32 tgid;
  __u32 pad;
  char path[KEPLER_PATH_BYTES];
};
KEPLER_ASSERT_SIZE(kepler_executable, 272);

/* Ring buffer: each record begins with its kind. */
enum kepler_record_kind {
  KEPLER_TASK_FREED = 1,
  KEPLER_EXEC = 2,
  KEPLER_CGROUP_MADE = 3,
  KEPLER_CGROUP_REMOVED = 4,
  KEPLER_TASK_MOVED = 5,
  KEPLER_RECORD_KINDS = 6
};

struct kepler_record {
  __u32 kind;
  __u32 pad;
};

struct kepler_task_freed {
  struct kepler_record record;
  struct kepler_task task;
};
KEPLER_ASSERT_SIZE(kepler_task_freed, 112);

struct kepler_exec {
  struct kepler_record record;
  __u64 start; /* of the process */
  __s32 tgid;
  __u32 pad;
  char path[KEPLER_PATH_BYTES]; /* for a script: its interpreter; NUL-terminated, cut if longer */
};
KEPLER_ASSERT_SIZE(kepler_exec, 280);

struct kepler_cgroup {
  struct kepler_record record;
  __u64 id;
  __u32 hierarchy; /* 0: v2 */
  __u32 pad;
  char path[KEPLER_CGROUP_PATH_BYTES]; /* from the root of the hierarchy; NUL-terminated, cut if longer */
};
KEPLER_ASSERT_SIZE(kepler_cgroup, 1048);

/* A process was moved to another cgroup. */
struct kepler_moved {
  struct kepler_record record;
  __u64 start; /* of the process */
  __u64 ran;   /* time of its leader and its dead threads before the move */
  __u64 from;  /* kernfs id of its parent's cgroup in `hierarchy`, from which a new process comes; 0: unknown */
  __s32 tgid;
  __u32 hierarchy; /* hierarchy of both cgroups; 0: v2 */
};
KEPLER_ASSERT_SIZE(kepler_moved, 40);

/* Element of the queue `dropped`: the total time of a process that ended while the ring was full. */
struct kepler_dropped {
  __u64 start;
  __u64 ran;
  __u64 cgroup_v2; /* kernfs id; 0: unknown */
  __s32 tgid;
  __u32 pad;
};
KEPLER_ASSERT_SIZE(kepler_dropped, 32);

/* Totals since the load, in .bss: written by the kernel (except last_scan), read by the agent. */
struct kepler_totals {
  __u64 last_scan; /* start of the agent's latest pass; written by the agent */
  __u64 records[KEPLER_RECORD_KINDS];
  __u64 dropped[KEPLER_RECORD_KINDS];
  __u64 lost;        /* time of processes that did not fit into the queue either, if they started since last_scan */
  __u64 switch_gaps; /* slices without a known begin: their events are not counted */
  __u64
      ended_soon; /* task records, dropped ones included, at the first one KEPLER_SOON_NS or more after a pass began */
  __u64 soon_of;  /* last_scan of that pass */
};
KEPLER_ASSERT_SIZE(kepler_totals, 136);

#endif
