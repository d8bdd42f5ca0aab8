/* Makes the calls of scripts, which it reads from standard input, with the recorder in C. See calls_test.go. */
#define SAMESTEP_RECORDER_IMPLEMENTATION
#include "samestep_recorder.h"

#include <stdlib.h>
#include <string.h>

static samestep_recorder rec;
static char line[4 << 20];
static char *words[128], *arena, *rest;

/* bytes decodes a word in hexadecimal digits after an x, or *N, which is N letters a. It returns the size. */
static size_t bytes(const char *word, char **out) {
    size_t i, size;
    *out = rest;
    if (*word == '*') {
        size = (size_t)strtoul(word + 1, NULL, 10);
        memset(rest, 'a', size);
    } else {
        size = (strlen(word) - 1) / 2;
        for (i = 0; i < size; i++) {
            char two[3] = {0, 0, 0};
            memcpy(two, word + 1 + 2 * i, 2);
            rest[i] = (char)strtoul(two, NULL, 16);
        }
    }
    rest[size] = 0;
    rest += size + 1;
    return size;
}

static char *text(const char *word) {
    char *out;
    bytes(word, &out);
    return out;
}

static uint32_t number(const char *word) { return (uint32_t)strtoul(word, NULL, 10); }

static void finish(void) {
    samestep_record_close(&rec);
    if (samestep_record_error(&rec)) puts(samestep_record_error(&rec));
    puts("closed");
}

int main(int argc, char **argv) {
    char path[4096];
    int scripts = 0;
    const char *names[65];
    uint64_t sums[65];
    arena = (char *)malloc(8 << 20);
    if (argc != 2 || !arena) return 2;
    while (fgets(line, sizeof line, stdin)) {
        int n = 0, i;
        char *word = strtok(line, " \n");
        rest = arena;
        while (word && n < 128) {
            words[n++] = word;
            word = strtok(NULL, " \n");
        }
        if (n == 0) continue;
        if (strcmp(words[0], "header") == 0) {
            samestep_header h;
            memset(&h, 0, sizeof h);
            h.title = text(words[1]);
            h.tick_rate = strtod(words[2], NULL);
            h.players = (int)strtol(words[3], NULL, 10);
            h.by = (int)strtol(words[4], NULL, 10);
            h.match = text(words[5]);
            h.build = text(words[6]);
            h.platform = text(words[7]);
            h.state = text(words[8]);
            for (i = 9; i < n && i < 9 + 65; i++) names[i - 9] = text(words[i]);
            h.sections = names;
            h.section_count = n - 9;
            if (scripts > 0) finish();
            sprintf(path, "%.4000s/%d.jsonl", argv[1], scripts++);
            samestep_record_open(&rec, path, &h);
        } else if (strcmp(words[0], "flush") == 0) {
            samestep_record_flush_every(&rec, number(words[1]));
        } else if (strcmp(words[0], "want") == 0) {
            samestep_record_want(&rec, words[1]);
        } else if (strcmp(words[0], "wanted") == 0) {
            printf("%d\n", samestep_record_wanted(&rec, number(words[1])));
        } else if (strcmp(words[0], "command") == 0) {
            char *payload;
            size_t size = bytes(words[4], &payload);
            samestep_record_command(&rec, number(words[1]), (int)number(words[2]), (uint16_t)number(words[3]), payload, size);
        } else if (strcmp(words[0], "sum") == 0) {
            for (i = 3; i < n && i < 3 + 65; i++) sums[i - 3] = strtoull(words[i], NULL, 16);
            samestep_record_sum(&rec, number(words[1]), (int)number(words[2]), sums[0], sums + 1, n - 4);
        } else if (strcmp(words[0], "note") == 0) {
            samestep_record_note(&rec, number(words[1]), (int)strtol(words[2], NULL, 10), text(words[3]), text(words[4]));
        } else if (strcmp(words[0], "phase") == 0) {
            samestep_record_phase(&rec, number(words[1]), text(words[2]), strtoull(words[3], NULL, 16));
        } else if (strcmp(words[0], "draws") == 0) {
            samestep_record_draws(&rec, number(words[1]), text(words[2]), strtoull(words[3], NULL, 10));
        } else if (strcmp(words[0], "state") == 0) {
            char *state;
            size_t size = bytes(words[3], &state), half = size / 3;
            if (samestep_record_state_begin(&rec, number(words[1]), (int)number(words[2])) == 0) {
                samestep_record_bytes(&rec, state, half); /* in two parts, which must not show */
                samestep_record_bytes(&rec, state + half, size - half);
                samestep_record_state_end(&rec);
            }
        } else if (strcmp(words[0], "values") == 0) {
            samestep_record_state_begin(&rec, number(words[1]), 0);
            samestep_record_bool(&rec, 7);
            samestep_record_i8(&rec, -2);
            samestep_record_i16(&rec, -300);
            samestep_record_i32(&rec, -70000);
            samestep_record_i64(&rec, -5000000000);
            samestep_record_u8(&rec, 250);
            samestep_record_u16(&rec, 65000);
            samestep_record_u32(&rec, 4000000000u);
            samestep_record_u64(&rec, 18000000000000000000u);
            samestep_record_f32(&rec, -0.1f);
            samestep_record_f64(&rec, 1e300);
            samestep_record_text(&rec, "h\xc3\xa9", 3);
            samestep_record_u32(&rec, 2); /* of a slice */
            samestep_record_u8(&rec, 1);
            samestep_record_u8(&rec, 2);
            samestep_record_state_end(&rec);
        } else if (strcmp(words[0], "end") == 0) {
            samestep_record_end(&rec, number(words[1]));
        } else if (strcmp(words[0], "kill") == 0) {
            _Exit(0);
        } else {
            return 2;
        }
    }
    finish();
    free(arena);
    return 0;
}
