/* Loaded before the C library: moves the wall clock by the seconds that stand in the file TEST_CLOCK_OFFSET. The
 * monotonic clocks stay as they are, as they do when an operator sets the time. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset;

__attribute__((constructor)) static void map(void)
{
	const char *name = getenv("TEST_CLOCK_OFFSET");
	int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	void *at = file < 0 ? MAP_FAILED : mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
	offset = at == MAP_FAILED ? 0 : at;
	if (file >= 0)
		close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int done = syscall(SYS_clock_gettime, clock, time);
	if (!done && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		time->tv_sec += *offset;
	return done;
}

int gettimeofday(struct timeval *time, void *zone)
{
	struct timespec now;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
