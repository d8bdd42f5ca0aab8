/* Records 200,000 ticks of 4 players with 8 sections, to a file that it gets. Prints the nanoseconds of
 * processor time a tick, and the allocations after the beginning. For Linux with glibc. See ticks_test.go. */
#define SAMESTEP_RECORDER_IMPLEMENTATION
#include "samestep_recorder.h"

#include <time.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static long allocations;

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *p, size_t size) {
    allocations++;
    return __libc_realloc(p, size);
}

static samestep_recorder rec;

int main(int argc, char **argv) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    const uint32_t ticks = 200000;
    clock_t start;
    uint64_t sums[8];
    uint32_t t, i;
    long before;
    samestep_header h = {0};
    h.title = "Ticks";
    h.tick_rate = 60;
    h.players = 4;
    h.sections = names;
    h.section_count = 8;
    if (argc != 2 || samestep_record_open(&rec, argv[1], &h) != 0) return 2;
    before = allocations;
    start = clock();
    for (t = 0; t < ticks; t++) {
        for (i = 0; i < 4; i++) samestep_record_command(&rec, t, (int)i, 7, "abcdefgh", 8);
        for (i = 0; i < 8; i++) sums[i] = (t + i) * 0x9e3779b97f4a7c15u;
        samestep_record_sum(&rec, t + 1, 0, t * 0xd6e8feb86659fd93u, sums, 8);
    }
    printf("%.0f ns %ld allocations\n", (double)(clock() - start) * 1e9 / CLOCKS_PER_SEC / ticks, allocations - before);
    if (samestep_record_close(&rec) != 0) {
        puts(samestep_record_error(&rec));
        return 1;
    }
    return 0;
}
