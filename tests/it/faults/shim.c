/* Fails calls of the C library, preloaded into a program.
 *
 * The environment says which calls fail:
 *
 *   FAULT_CALL    the kind that fails: one of `names` below, `rename2` or `clock`
 *   FAULT_AT      the first of its calls that fails, from 1; without it none fails
 *   FAULT_LAST    the last one that fails, FAULT_AT by default
 *   FAULT_ERROR   the number of the error; 0 makes writes and reads short by half instead
 *   FAULT_FOLDER  counts only calls about files whose paths begin so
 *   FAULT_EXCEPT  and not those whose paths begin so
 *   FAULT_COUNTS  a file of N_KINDS numbers of eight bytes: the calls of each kind so far
 *   FAULT_STEP_S  seconds by which `clock` moves the time of day, from call FAULT_AT on
 *
 * `rename2` is `renameat2`, which the program calls without the C library: the kernel fails each.
 * Syncs succeed without a sync, since no power is lost here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE, SYNC, TRUNCATE, READ, RENAME, MMAP, OPEN, UNLINK, LINK, CLOCK, N_KINDS };

static const char *const names[N_KINDS] = {"write", "sync", "truncate", "read",  "rename",
                                           "mmap",  "open", "unlink",   "link", "clock"};

static int failing = -1;
static uint64_t first, last;
static int error;
static long long step_s;
static const char *folder, *except;
static uint64_t none[N_KINDS];
static uint64_t *counts = none;

static long long number(const char *name, long long otherwise) {
    const char *value = getenv(name);
    return value ? atoll(value) : otherwise;
}

/* Has the kernel fail each `renameat2`, whoever calls it. */
static void fail_renameat2(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

__attribute__((constructor)) static void begin(void) {
    const char *call = getenv("FAULT_CALL");
    folder = getenv("FAULT_FOLDER");
    except = getenv("FAULT_EXCEPT");
    first = number("FAULT_AT", 0);
    last = number("FAULT_LAST", first);
    error = number("FAULT_ERROR", EIO);
    step_s = number("FAULT_STEP_S", 0);
    for (int kind = 0; kind < N_KINDS; kind++)
        if (call && !strcmp(call, names[kind])) failing = kind;
    const char *path = getenv("FAULT_COUNTS");
    int fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR) : -1;
    if (0 <= fd) {
        void *at = (void *)syscall(SYS_mmap, NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) counts = at;
        syscall(SYS_close, fd);
    }
    if (call && !strcmp(call, "rename2") && first) fail_renameat2();
}

static int begins(const char *path, const char *with) {
    return with && !strncmp(path, with, strlen(with));
}

static int counts_path(const char *path) {
    char full[8192];
    if (!folder || !path) return 0;
    if (path[0] != '/') {
        size_t n = syscall(SYS_getcwd, full, sizeof full / 2) < 0 ? 0 : strlen(full);
        snprintf(full + n, sizeof full - n, "/%s", path);
        path = full;
    }
    return begins(path, folder) && !begins(path, except);
}

static int counts_fd(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    /* A pipe has no path. */
    return path[0] == '/' && counts_path(path);
}

/* Counts a call, and returns whether it is to fail. */
static int fails(int kind) {
    uint64_t nth = __atomic_add_fetch(&counts[kind], 1, __ATOMIC_RELAXED);
    return kind == failing && first && first <= nth && nth <= last;
}

static int refuse(void) {
    errno = error;
    return -1;
}

#define REAL(type, name, ...)                                                                     \
    static type (*real)(__VA_ARGS__);                                                             \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);

#define TRANSFER(kind, name, buffer)                                                              \
    ssize_t name(int fd, buffer at, size_t n) {                                                   \
        REAL(ssize_t, name, int, buffer, size_t)                                                  \
        if (!counts_fd(fd) || !fails(kind)) return real(fd, at, n);                               \
        return error ? refuse() : real(fd, at, n < 2 ? n : n / 2);                                \
    }

#define TRANSFER_AT(kind, name, buffer, offset)                                                   \
    ssize_t name(int fd, buffer at, size_t n, offset place) {                                     \
        REAL(ssize_t, name, int, buffer, size_t, offset)                                          \
        if (!counts_fd(fd) || !fails(kind)) return real(fd, at, n, place);                        \
        return error ? refuse() : real(fd, at, n < 2 ? n : n / 2, place);                         \
    }

#define VECTORS(kind, name)                                                                       \
    ssize_t name(int fd, const struct iovec *at, int n) {                                         \
        REAL(ssize_t, name, int, const struct iovec *, int)                                       \
        return counts_fd(fd) && fails(kind) && error ? refuse() : real(fd, at, n);                \
    }

TRANSFER(WRITE, write, const void *)
TRANSFER(READ, read, void *)
TRANSFER_AT(WRITE, pwrite, const void *, off_t)
TRANSFER_AT(WRITE, pwrite64, const void *, off64_t)
TRANSFER_AT(READ, pread, void *, off_t)
TRANSFER_AT(READ, pread64, void *, off64_t)
VECTORS(WRITE, writev)
VECTORS(READ, readv)

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags) {
    REAL(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned)
    if (!counts_fd(out) || !fails(WRITE)) return real(in, from, out, to, n, flags);
    return error ? refuse() : real(in, from, out, to, n < 2 ? n : n / 2, flags);
}

ssize_t sendfile64(int out, int in, off64_t *from, size_t n) {
    REAL(ssize_t, sendfile64, int, int, off64_t *, size_t)
    return counts_fd(out) && fails(WRITE) && error ? refuse() : real(out, in, from, n);
}

#define SYNCS(name)                                                                               \
    int name(int fd) { return counts_fd(fd) && fails(SYNC) && error ? refuse() : 0; }

SYNCS(fsync)
SYNCS(fdatasync)

#define TRUNCATES(name, offset)                                                                   \
    int name(int fd, offset n) {                                                                  \
        REAL(int, name, int, offset)                                                              \
        return counts_fd(fd) && fails(TRUNCATE) ? refuse() : real(fd, n);                         \
    }

TRUNCATES(ftruncate, off_t)
TRUNCATES(ftruncate64, off64_t)

#define MAPS(name, offset)                                                                        \
    void *name(void *at, size_t n, int rights, int flags, int fd, offset from) {                  \
        REAL(void *, name, void *, size_t, int, int, int, offset)                                 \
        if (fd < 0 || !counts_fd(fd) || !fails(MMAP)) return real(at, n, rights, flags, fd, from); \
        refuse();                                                                                 \
        return MAP_FAILED;                                                                        \
    }

MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPENS(name)                                                                               \
    int name(const char *path, int flags, ...) {                                                  \
        REAL(int, name, const char *, int, ...)                                                   \
        va_list rest;                                                                             \
        va_start(rest, flags);                                                                    \
        mode_t mode = mode_of(flags, rest);                                                       \
        va_end(rest);                                                                             \
        return counts_path(path) && fails(OPEN) ? refuse() : real(path, flags, mode);             \
    }

OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                                            \
    int name(int at, const char *path, int flags, ...) {                                          \
        REAL(int, name, int, const char *, int, ...)                                              \
        va_list rest;                                                                             \
        va_start(rest, flags);                                                                    \
        mode_t mode = mode_of(flags, rest);                                                       \
        va_end(rest);                                                                             \
        return counts_path(path) && fails(OPEN) ? refuse() : real(at, path, flags, mode);         \
    }

OPENS_AT(openat)
OPENS_AT(openat64)

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *)
    return counts_path(to) && fails(RENAME) ? refuse() : real(from, to);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    REAL(int, linkat, int, const char *, int, const char *, int)
    return counts_path(to) && fails(LINK) ? refuse() : real(from_at, from, to_at, to, flags);
}

int unlink(const char *path) {
    REAL(int, unlink, const char *)
    return counts_path(path) && fails(UNLINK) ? refuse() : real(path);
}

int unlinkat(int at, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int)
    return counts_path(path) && fails(UNLINK) ? refuse() : real(at, path, flags);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && clock == CLOCK_REALTIME && fails(CLOCK)) now->tv_sec += step_s;
    return failed;
}
