/* A game in C: pebbles on a rope, which two players pull. It records a match with the recorder in C. See TestRecordedFaults.
 *
 *     tug OUT.jsonl BY FAULT
 *
 * FAULT is none; pull, a machine that rounds the pull of pebble 5 otherwise from tick 41 on; or draw, one that draws once more at tick 57. */
#define SAMESTEP_RECORDER_IMPLEMENTATION
#include "samestep_recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEBBLES = 8, TICKS = 90 };

static samestep_recorder rec;
static uint32_t seed = 7;
static uint64_t draws;
static struct {
    float x, speed;
} pebble[PEBBLES];

static uint32_t draw(void) {
    draws++;
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static uint64_t fnv(uint64_t h, const void *data, size_t size) {
    const unsigned char *p = (const unsigned char *)data;
    while (size-- > 0) h = (h ^ *p++) * 0x100000001b3u;
    return h;
}

static uint64_t sum(void) { return fnv(fnv(0xcbf29ce484222325u, &seed, sizeof seed), pebble, sizeof pebble); }

static void record(uint32_t tick, int by) {
    int i;
    uint64_t sections[2];
    sections[0] = fnv(0xcbf29ce484222325u, &seed, sizeof seed);
    sections[1] = fnv(0xcbf29ce484222325u, pebble, sizeof pebble);
    samestep_record_sum(&rec, tick, by, sum(), sections, 2);
    if (!samestep_record_wanted(&rec, tick)) return;
    samestep_record_state_begin(&rec, tick, by);
    samestep_record_u32(&rec, seed);
    samestep_record_u32(&rec, PEBBLES);
    for (i = 0; i < PEBBLES; i++) {
        samestep_record_f32(&rec, pebble[i].x);
        samestep_record_f32(&rec, pebble[i].speed);
    }
    samestep_record_state_end(&rec);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"Seed", "Pebbles"};
    samestep_header h;
    uint32_t t;
    int by, i;
    if (argc != 4) return 2;
    by = atoi(argv[2]);
    memset(&h, 0, sizeof h);
    h.title = "Tug";
    h.tick_rate = 30;
    h.players = 2;
    h.by = by;
    h.match = "tug 7";
    h.platform = "linux/amd64";
    h.sections = names;
    h.section_count = 2;
    h.state = "struct { Seed uint32; Pebbles []struct { X, Speed float32 } }";
    samestep_record_open(&rec, argv[1], &h);
    record(0, by);
    for (t = 1; t <= TICKS; t++) {
        unsigned char power = (unsigned char)(t % 5);
        draws = 0;
        if (power == 0) samestep_record_command(&rec, t - 1, (int)(t / 5 % 2), 1, &power, 1);
        for (i = 0; i < PEBBLES; i++) { /* pull */
            volatile float by_power = 0.1f * (float)(i + 1);
            if (i == 5 && t > 40 && strcmp(argv[3], "pull") == 0) by_power *= 1.0000001f;
            pebble[i].speed += by_power;
        }
        samestep_record_phase(&rec, t, "pull", sum());
        for (i = 0; i < PEBBLES; i++) pebble[i].x += pebble[i].speed;
        samestep_record_phase(&rec, t, "slide", sum());
        if (t % 3 == 0) pebble[draw() % PEBBLES].speed = 0;
        if (t == 57 && strcmp(argv[3], "draw") == 0) draw();
        samestep_record_phase(&rec, t, "slip", sum());
        samestep_record_draws(&rec, t, "slips", draws);
        record(t, by);
    }
    samestep_record_end(&rec, TICKS);
    if (samestep_record_close(&rec)) return fputs(samestep_record_error(&rec), stderr), 1;
    return 0;
}
