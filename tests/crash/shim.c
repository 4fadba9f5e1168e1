/* LD_PRELOAD: the Nth write below one folder fails with an errno of our choice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[4096];
static long left = -1, seen = 0;
static int failure = 0, for_good = 0;

/* n < 0: never; sticky: every write from then on, as on a full disk. */
void fault_arm(const char *under, long n, int error, int sticky)
{
    strncpy(folder, under, sizeof folder - 1);
    left = n;
    failure = error;
    for_good = sticky;
    seen = 0;
}

long fault_seen(void) { return seen; }

static int below(const char *path)
{
    return folder[0] && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int strikes(void)
{
    seen++;
    if (left < 0) return 0;
    if (left > 0) left--;
    if (left > 0) return 0;
    if (!for_good) left = -1;
    errno = failure;
    return 1;
}

static int fd_strikes(int fd)
{
    char link[64], path[4096];
    int saved = errno;
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (size < 0) return 0;
    path[size] = 0;
    return below(path) && strikes();
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *b, size_t n)
{ REAL(write); return fd_strikes(fd) ? -1 : real(fd, b, n); }
ssize_t writev(int fd, const struct iovec *v, int n)
{ REAL(writev); return fd_strikes(fd) ? -1 : real(fd, v, n); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o)
{ REAL(pwrite); return fd_strikes(fd) ? -1 : real(fd, b, n, o); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o)
{ REAL(pwrite64); return fd_strikes(fd) ? -1 : real(fd, b, n, o); }
int ftruncate(int fd, off_t n)
{ REAL(ftruncate); return fd_strikes(fd) ? -1 : real(fd, n); }
int ftruncate64(int fd, off64_t n)
{ REAL(ftruncate64); return fd_strikes(fd) ? -1 : real(fd, n); }
int fsync(int fd)
{ REAL(fsync); return fd_strikes(fd) ? -1 : real(fd); }
int fdatasync(int fd)
{ REAL(fdatasync); return fd_strikes(fd) ? -1 : real(fd); }
int unlink(const char *path)
{ REAL(unlink); return below(path) && strikes() ? -1 : real(path); }
int rename(const char *a, const char *b)
{ REAL(rename); return below(b) && strikes() ? -1 : real(a, b); }
int mkdir(const char *path, mode_t mode)
{ REAL(mkdir); return below(path) && strikes() ? -1 : real(path, mode); }

/* Makes a file; or, on a read-only disk, asks for one to write to. */
static int opens_to_write(const char *path, int flags)
{
    if (flags & O_CREAT && faccessat(AT_FDCWD, path, F_OK, 0)) return 1;
    return failure == EROFS && (flags & O_ACCMODE) != O_RDONLY;
}

int access(const char *path, int mode)
{
    REAL(access);
    int refuses = mode & W_OK && failure == EROFS && left <= 1 && left >= 0 && below(path);
    if (refuses) errno = EROFS;
    return refuses ? -1 : real(path, mode);
}

#define OPEN(name)                                                                      \
    int name(const char *path, int flags, ...)                                          \
    {                                                                                   \
        REAL(name);                                                                     \
        va_list more;                                                                   \
        va_start(more, flags);                                                          \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;         \
        va_end(more);                                                                   \
        if (opens_to_write(path, flags) && below(path) && strikes()) return -1;         \
        return real(path, flags, mode);                                                 \
    }
OPEN(open)
OPEN(open64)
