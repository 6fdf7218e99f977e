/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel types and members that the programs use. libbpf relocates every access with the BTF of the running kernel
 * (CO-RE), so the order of members does not matter, and other members may be missing. */
#ifndef KEPLER_BPF_KERNEL_H
#define KEPLER_BPF_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef _Bool bool;
typedef int pid_t;
#define NULL ((void*)0)
#define true 1
#define false 0

/* include/uapi/linux/bpf.h */
enum { BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4, BPF_MAP_TYPE_PERCPU_ARRAY = 6, BPF_MAP_TYPE_QUEUE = 22 };
enum { BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_MAP_TYPE_TASK_STORAGE = 29, BPF_F_NO_PREALLOC = 1, BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2, BPF_RB_AVAIL_DATA = 0 };
#define BPF_F_CURRENT_CPU 0xffffffffULL
struct bpf_perf_event_value {
  __u64 counter, enabled, running;
};

/* include/linux/sched.h */
enum { PF_EXITING = 0x00000004, PF_KTHREAD = 0x00200000, EXIT_DEAD = 0x00000010 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
  __u64 id;
};
struct cgroup_root {
  int hierarchy_id;
};
struct cgroup {
  struct kernfs_node* kn;
  struct cgroup_root* root;
};
struct cgroup_subsys_state {
  struct cgroup* cgroup;
};
struct css_set {
  struct cgroup_subsys_state* subsys[1]; /* CGROUP_SUBSYS_COUNT */
  struct cgroup* dfl_cgrp;
};
enum cgroup_subsys_id { cpuacct_cgrp_id = 0 }; /* libbpf relocates the value too */

struct path {
  struct dentry* dentry; /* makes the type complete */
};
struct file {
  struct path f_path;
};
struct mm_struct {
  struct file* exe_file;
};
typedef struct {
  unsigned int val;
} kuid_t;
struct cred {
  kuid_t uid;
};
struct sched_entity {
  __u64 sum_exec_runtime;
};
struct signal_struct {
  unsigned long long sum_sched_runtime;
};
struct task_struct {
  unsigned int flags;
  int exit_state;
  struct sched_entity se;
  struct mm_struct* mm;
  pid_t pid;
  pid_t tgid;
  struct task_struct* real_parent;
  struct task_struct* group_leader;
  __u64 start_boottime;
  const struct cred* real_cred;
  char comm[16];
  struct signal_struct* signal;
  struct css_set* cgroups;
};
struct linux_binprm {
  const char* interp;
};

struct seq_file;
struct bpf_iter_meta {
  struct seq_file* seq;
  __u64 seq_num;
};
struct bpf_iter__task {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
};

#pragma clang attribute pop

#endif
