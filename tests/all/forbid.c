// Runs a program without some ways to make and name files, as file systems and confinements
// forbid them: forbid ERRNO WAY... -- PROGRAM ARGUMENT...
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define UNLESS(test, value, skip) BPF_JUMP(BPF_JMP | (test) | BPF_K, value, 0, skip)
#define ANSWER(answer) BPF_STMT(BPF_RET | BPF_K, answer)

int main(int argc, char **argv) {
    unsigned refuse = SECCOMP_RET_ERRNO | atoi(argv[1]);
    struct sock_filter filter[64];
    int n = 0, at = 2;
    for (; at < argc && strcmp(argv[at], "--"); at++) {
        int tmpfile = !strcmp(argv[at], "tmpfile"), both = !strcmp(argv[at], "both");
        int call = tmpfile || both                     ? SYS_openat
                   : !strcmp(argv[at], "linkat")    ? SYS_linkat
                   : !strcmp(argv[at], "renameat2") ? SYS_renameat2
                                                    : -1;
        if (call < 0) return fprintf(stderr, "forbid: %s\n", argv[at]), 99;
        // The standard library links with another call where it exists.
        for (int i = 0; i < 2; i++) {
            if (i == 1 && call != SYS_linkat) break;
#ifdef SYS_link
            if (i == 1) call = SYS_link;
#else
            if (i == 1) break;
#endif
            struct sock_filter number[] = {LOAD(nr), UNLESS(BPF_JEQ, call, tmpfile ? 3 : both ? 4 : 1)};
            memcpy(filter + n, number, sizeof number), n += 2;
            if (tmpfile) {
                struct sock_filter flags[] = {LOAD(args[2]), UNLESS(BPF_JSET, O_TMPFILE & ~O_DIRECTORY, 1)};
                memcpy(filter + n, flags, sizeof flags), n += 2;
            }
            if (both) {
                struct sock_filter flags[] = {LOAD(args[2]), UNLESS(BPF_JSET, O_CREAT, 2), UNLESS(BPF_JSET, O_RDWR, 1)};
                memcpy(filter + n, flags, sizeof flags), n += 3;
            }
            filter[n++] = (struct sock_filter)ANSWER(refuse);
        }
    }
    filter[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return perror("forbid"), 99;
    execvp(argv[at + 1], argv + at + 1);
    return perror(argv[at + 1]), 99;
}
