/*
 * samestep_recorder.h records what one machine sees of a match: commands, sums of states, whole states and notes, as lines
 * of JSON that samestep replay reads. It is one file of C99 and C++11 without dependencies, and allocates nothing.
 *
 * In one source file, define SAMESTEP_RECORDER_IMPLEMENTATION before the include. In the others, only include it.
 *
 *     static samestep_recorder rec;                    // 120 KiB: not on a small stack
 *     samestep_header header = {0};
 *     header.title = "Pong";
 *     header.tick_rate = 60;
 *     header.players = 2;
 *     header.by = 0;                                   // the player of this machine, or SAMESTEP_NO_PLAYER
 *     header.state = "struct { Tick uint32; Balls []struct { X, Y float32 } }";
 *     samestep_record_open(&rec, "player0.jsonl", &header);
 *
 *     samestep_record_command(&rec, tick, player, kind, payload, size);   // changes the state of tick into that of tick+1
 *     step();
 *     samestep_record_phase(&rec, tick + 1, "bounce", ball_hash);         // optional, for each phase of the step, in order
 *     samestep_record_draws(&rec, tick + 1, "serve", draws);              // optional, for each stream of random numbers
 *     samestep_record_sum(&rec, tick + 1, 0, hash, NULL, 0);
 *     if (samestep_record_wanted(&rec, tick + 1)) {                       // SAMESTEP_DUMP=77,78
 *         samestep_record_state_begin(&rec, tick + 1, 0);
 *         samestep_record_u32(&rec, tick + 1);
 *         samestep_record_u32(&rec, ball_count);                          // the count before the elements of a slice
 *         for (i = 0; i < ball_count; i++) {
 *             samestep_record_f32(&rec, balls[i].x);
 *             samestep_record_f32(&rec, balls[i].y);
 *         }
 *         samestep_record_state_end(&rec);
 *     }
 *
 *     samestep_record_end(&rec, tick + 1);
 *     if (samestep_record_close(&rec)) fputs(samestep_record_error(&rec), stderr);
 *
 * Lines are written when the ticks advance (samestep_record_flush_every), after a state, and when the buffer is full, so
 * a game that crashes loses only the latest ticks. The first error stays: later calls do nothing, and
 * samestep_record_error returns it. Only a phase or draws too many, or with a wrong name, are left out and counted: the call returns -1,
 * the recording goes on, and close returns -1 at its end. That holds for NULL where a call needs something, too. A recorder is not safe for several threads at once. All texts are UTF-8 and end with 0.
 */
#ifndef SAMESTEP_RECORDER_H
#define SAMESTEP_RECORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SAMESTEP_NO_PLAYER (-1)

/* A header describes a match and the machine that records it. Texts have at most 128 bytes, state at most 64 KiB. */
typedef struct samestep_header {
    const char *title;            /* of the game */
    double tick_rate;             /* ticks a second, at most 1000; six decimals are written */
    int players;                  /* seats, 1 to 250 */
    int by;                       /* the player whose machine records, or SAMESTEP_NO_PLAYER for a server */
    const char *match;            /* all recordings of a match have the same; may be NULL, as all below */
    const char *build;            /* of the game */
    const char *platform;         /* such as "linux/amd64" */
    const char *const *sections;  /* the names of the sections whose sums follow, all different */
    int section_count;            /* at most 64 */
    const char *state;            /* the schema of states: a Go struct type in text */
} samestep_header;

/* A function that writes bytes returns 0, or another number if it fails. */
typedef int (*samestep_write)(void *context, const void *data, size_t size);

typedef struct samestep_seat {
    uint32_t sequence, sums, dumps;
} samestep_seat;

/* A part of the states: a run of bytes, or the elements of a slice, an array or a string. */
typedef struct samestep_part {
    uint32_t n;       /* bytes of an element without parts, else elements of an array */
    uint16_t end;     /* the index after the parts of an element, or 0 if it has none */
    uint16_t counted; /* whether the bytes begin with the number of elements */
} samestep_part;

/* The elements of a part of the state that is being recorded. */
typedef struct samestep_elements {
    uint32_t begin, end, left;
} samestep_elements;

/* The fields of a recorder are its own. */
typedef struct samestep_recorder {
    samestep_write write;
    void *context;
    FILE *file;
    char error[192];
    int failed, players, sections, has_states, ended;
    uint32_t tick, flush_ticks, flushed;
    uint32_t lines, bytes, command_tick, commands, payloads, kind_count, sums;
    uint32_t wanted[64][2];
    uint32_t wanted_count;
    samestep_seat seats[250];
    uint32_t kinds[(1 << 16) / 32];
    uint32_t states, dump_tick, dump_player, dump_size, dump_all;
    int dumping;
    unsigned char dump[12 << 10];
    samestep_part parts[4096]; /* of the schema */
    uint32_t part_count, part; /* part is the next one of the state */
    samestep_elements open[32];
    uint32_t open_count;
    uint32_t count; /* of the elements of the next part */
    int counting;   /* 1 while count is read, 2 once it is known */
    uint64_t measured, missing; /* bytes of the parts before the next one, and those of them that have not come */
    int by;
    uint32_t mark_tick, mark_counts[2], mark_size; /* of the phases and draws that wait */
    uint32_t left_out;                             /* calls of phase and draws */
    int left_size;                                 /* of the error up to their count */
    char marks[1024];
    size_t size;  /* of the buffer */
    size_t whole; /* its bytes up to the last whole line or state */
    char buffer[64 << 10];
} samestep_recorder;

/* Each function returns 0, or -1 after an error. */

/* Start a recording: in a new file, or with a function that gets whole lines. Both read SAMESTEP_DUMP. */
int samestep_record_open(samestep_recorder *r, const char *path, const samestep_header *h);
int samestep_record_begin(samestep_recorder *r, samestep_write write, void *context, const samestep_header *h);

/* After how many ticks the buffered lines are written; 60 unless set. */
void samestep_record_flush_every(samestep_recorder *r, uint32_t ticks);

/* A command of at most 16,380 bytes changes the state of a tick into that of the next. */
int samestep_record_command(samestep_recorder *r, uint32_t tick, int player, uint16_t kind, const void *payload, size_t size);

/* The checksum of the state of a tick, as a player computed it, and the sums of all sections or none. */
int samestep_record_sum(samestep_recorder *r, uint32_t tick, int player, uint64_t sum, const uint64_t *sections, int count);

/* A note about a player, or with SAMESTEP_NO_PLAYER about the match: "name", "chat", "map", or a topic with a dot. */
int samestep_record_note(samestep_recorder *r, uint32_t tick, int player, const char *topic, const char *text);

/* A sum of what a phase of the step that leads to the state of a tick has computed, and how many numbers the step has drawn from a
 * stream of random numbers. Record them in the order of the phases, before anything of a later tick. A name has 1 to 64 ASCII letters,
 * digits or ._-/: and a tick has at most 64 phases and 64 streams. Others are left out. */
int samestep_record_phase(samestep_recorder *r, uint32_t tick, const char *name, uint64_t sum);
int samestep_record_draws(samestep_recorder *r, uint32_t tick, const char *stream, uint64_t count);

/* Whether the state of a tick is wanted: 1 or 0. samestep_record_want adds ticks, such as "77,78" or "70-80". */
int samestep_record_wanted(const samestep_recorder *r, uint32_t tick);
int samestep_record_want(samestep_recorder *r, const char *ticks);

/* The state of a tick: its values in the order of the schema, between begin and end, at most 8 MiB. A slice begins with its
 * count as u32. */
int samestep_record_state_begin(samestep_recorder *r, uint32_t tick, int player);
int samestep_record_state_end(samestep_recorder *r);
int samestep_record_bool(samestep_recorder *r, int value);
int samestep_record_u8(samestep_recorder *r, uint8_t value);
int samestep_record_u16(samestep_recorder *r, uint16_t value);
int samestep_record_u32(samestep_recorder *r, uint32_t value);
int samestep_record_u64(samestep_recorder *r, uint64_t value);
int samestep_record_i8(samestep_recorder *r, int8_t value);
int samestep_record_i16(samestep_recorder *r, int16_t value);
int samestep_record_i32(samestep_recorder *r, int32_t value);
int samestep_record_i64(samestep_recorder *r, int64_t value);
int samestep_record_f32(samestep_recorder *r, float value);
int samestep_record_f64(samestep_recorder *r, double value);
int samestep_record_text(samestep_recorder *r, const char *text, uint32_t size);
int samestep_record_bytes(samestep_recorder *r, const void *bytes, size_t size); /* already in this form, without a count */

/* The last tick that was played. Nothing may follow but close. */
int samestep_record_end(samestep_recorder *r, uint32_t tick);

int samestep_record_flush(samestep_recorder *r);
int samestep_record_close(samestep_recorder *r);

/* The first error, or NULL. */
const char *samestep_record_error(const samestep_recorder *r);

#ifdef __cplusplus
}
#endif

#endif /* SAMESTEP_RECORDER_H */

#ifdef SAMESTEP_RECORDER_IMPLEMENTATION
#undef SAMESTEP_RECORDER_IMPLEMENTATION

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAMESTEP_MAX_TICK = 0x7FFFFFFF,
    SAMESTEP_MAX_LINES = 1 << 20,
    SAMESTEP_MAX_BYTES = (256 << 20) - 64,
    SAMESTEP_LINE_BYTES = 24 << 10 /* more than the longest line after the header */
};

static int samestep_fail(samestep_recorder *r, const char *format, ...) {
    if (!r) return -1;
    if (!r->failed) {
        va_list args;
        const size_t n = 10;
        memcpy(r->error, "recorder: ", n);
        va_start(args, format);
        vsnprintf(r->error + n, sizeof r->error - n, format, args);
        va_end(args);
        r->failed = 1;
        r->dumping = 0;
        r->size = r->whole;
    }
    return -1;
}

/* needs reports whether a call with a number of things gets them. */
static int samestep_needs(samestep_recorder *r, const char *what, uint32_t tick, const char *thing, const void *p) {
    if (p) return 1;
    return samestep_fail(r, "%s at tick %lu: got NULL, want %s", what, (unsigned long)tick, thing), 0;
}

static int samestep_write_out(samestep_recorder *r);

/* put appends bytes to the buffer, and counts them. Only a long header makes it write a part of a line. */
static void samestep_put(samestep_recorder *r, const void *data, size_t size) {
    const char *from = (const char *)data;
    while (size > 0) {
        size_t n = sizeof r->buffer - r->size;
        if (n == 0) {
            if (samestep_write_out(r) != 0) return;
            continue;
        }
        if (n > size) n = size;
        memcpy(r->buffer + r->size, from, n);
        r->size += n;
        r->bytes += (uint32_t)n;
        from += n;
        size -= n;
    }
}

static void samestep_puts(samestep_recorder *r, const char *text) { samestep_put(r, text, strlen(text)); }

static void samestep_put_number(samestep_recorder *r, const char *key, uint32_t n) {
    char text[10];
    int at = (int)sizeof text;
    do {
        text[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    samestep_puts(r, key);
    samestep_put(r, text + at, sizeof text - (size_t)at);
}

static void samestep_put_hash(samestep_recorder *r, uint64_t hash) {
    char text[18];
    int i;
    text[0] = text[17] = '"';
    for (i = 16; i > 0; i--) {
        text[i] = "0123456789abcdef"[hash & 15];
        hash >>= 4;
    }
    samestep_put(r, text, sizeof text);
}

static void samestep_put_text(samestep_recorder *r, const char *key, const char *text) {
    char escape[6];
    samestep_puts(r, key);
    samestep_put(r, "\"", 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') samestep_put(r, "\\", 1);
        if (c < ' ') {
            memcpy(escape, "\\u00", 4);
            escape[4] = "0123456789abcdef"[c >> 4];
            escape[5] = "0123456789abcdef"[c & 15];
            samestep_put(r, escape, 6);
        } else {
            samestep_put(r, text, 1);
        }
    }
    samestep_put(r, "\"", 1);
}

static void samestep_put_base64(samestep_recorder *r, const unsigned char *b, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *to = r->buffer + r->size; /* samestep_line has made room for the longest payload */
    for (; size > 0; to += 4) {
        uint32_t n = (uint32_t)b[0] << 16 | (size > 1 ? (uint32_t)b[1] << 8 : 0) | (size > 2 ? b[2] : 0);
        to[0] = digits[n >> 18];
        to[1] = digits[n >> 12 & 63];
        to[2] = size > 1 ? digits[n >> 6 & 63] : '=';
        to[3] = size > 2 ? digits[n & 63] : '=';
        if (size <= 3) {
            to += 4;
            break;
        }
        b += 3;
        size -= 3;
    }
    r->bytes += (uint32_t)(to - r->buffer - (ptrdiff_t)r->size);
    r->size = (size_t)(to - r->buffer);
}

/* valid reports whether a text is UTF-8 of a size. */
static int samestep_valid(const char *text, size_t least, size_t most) {
    const unsigned char *p = (const unsigned char *)text;
    size_t size = strlen(text), i = 0;
    if (size < least || size > most) return 0;
    while (i < size) {
        unsigned char c = p[i];
        size_t more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 4;
        size_t k;
        if (more == 4 || size - i <= more) return 0;
        for (k = 1; k <= more; k++) {
            if ((p[i + k] & 0xc0) != 0x80) return 0;
        }
        if (c == 0xe0 && p[i + 1] < 0xa0) return 0; /* longer than need be */
        if (c == 0xed && p[i + 1] > 0x9f) return 0; /* a surrogate */
        if (c == 0xf0 && p[i + 1] < 0x90) return 0; /* longer than need be */
        if (c == 0xf4 && p[i + 1] > 0x8f) return 0; /* beyond the last character */
        i += more + 1;
    }
    return 1;
}

static void samestep_sized(samestep_recorder *r, const char *what, const char *text, unsigned least, unsigned most) {
    if (!samestep_valid(text, least, most)) {
        samestep_fail(r, "header: got %s of %lu bytes, want %u to %u bytes of UTF-8", what, (unsigned long)strlen(text), least, most);
    }
}

static const char *samestep_or_empty(const char *text) { return text ? text : ""; }

static int samestep_close_line(samestep_recorder *r, const char *what, uint32_t tick);
static void samestep_open_line(samestep_recorder *r, uint32_t tick, int player);

/* room makes room for a line. */
static void samestep_room(samestep_recorder *r) {
    if (sizeof r->buffer - r->size < SAMESTEP_LINE_BYTES) samestep_write_out(r);
}

/* write_marks writes the note of the phases and draws that wait. */
static void samestep_write_marks(samestep_recorder *r) {
    if (r->failed || r->mark_size == 0) return;
    samestep_room(r);
    samestep_open_line(r, r->mark_tick, r->by);
    samestep_puts(r, ",\"note\":\"phases\",\"text\":\"");
    samestep_put(r, r->marks, r->mark_size);
    samestep_puts(r, "\"");
    r->mark_size = 0;
    samestep_close_line(r, "phases", r->mark_tick);
}

/* may reports whether a line of a tick may follow. */
static int samestep_may(samestep_recorder *r, const char *what, uint32_t tick, int ordered) {
    unsigned long t = tick;
    if (!r || r->failed) return 0;
    if (!r->write) return samestep_fail(r, "%s at tick %lu: the recorder is not open", what, t), 0;
    if (r->ended) return samestep_fail(r, "%s at tick %lu: after the end", what, t), 0;
    if (r->dumping) return samestep_fail(r, "%s at tick %lu: in a state that has no end", what, t), 0;
    if (tick > SAMESTEP_MAX_TICK) return samestep_fail(r, "%s at tick %lu: want at most tick %d", what, t, (int)SAMESTEP_MAX_TICK), 0;
    if (ordered && tick < r->tick) return samestep_fail(r, "%s at tick %lu: want at least tick %lu", what, t, (unsigned long)r->tick), 0;
    if (r->lines == SAMESTEP_MAX_LINES && strcmp(what, "end") != 0) {
        return samestep_fail(r, "%s at tick %lu: want at most %d lines", what, t, (int)SAMESTEP_MAX_LINES), 0;
    }
    return 1;
}

/* line reports whether a line of a tick may follow, and makes room for it. Lines that are ordered are not before the latest tick. */
static int samestep_line(samestep_recorder *r, const char *what, uint32_t tick, int ordered) {
    if (r) samestep_write_marks(r);
    if (!samestep_may(r, what, tick, ordered)) return 0;
    if (tick >= r->flushed && tick - r->flushed >= r->flush_ticks) {
        r->flushed = tick;
        samestep_write_out(r);
    }
    samestep_room(r);
    return !r->failed;
}

static int samestep_seated(samestep_recorder *r, const char *what, uint32_t tick, int player) {
    if (player >= 0 && player < r->players) return 1;
    return samestep_fail(r, "%s at tick %lu: got player %d, want 0 to %d", what, (unsigned long)tick, player, r->players - 1), 0;
}

static void samestep_open_line(samestep_recorder *r, uint32_t tick, int player) {
    samestep_put_number(r, "{\"t\":", tick);
    if (player != SAMESTEP_NO_PLAYER) samestep_put_number(r, ",\"p\":", (uint32_t)player);
}

static int samestep_close_line(samestep_recorder *r, const char *what, uint32_t tick) {
    samestep_put(r, "}\n", 2);
    if (r->bytes > SAMESTEP_MAX_BYTES && strcmp(what, "end") != 0) {
        return samestep_fail(r, "%s at tick %lu: want at most %d bytes", what, (unsigned long)tick, (int)SAMESTEP_MAX_BYTES);
    }
    r->lines++;
    if (tick > r->tick) r->tick = tick;
    if (strcmp(what, "state") != 0) r->whole = r->size; /* state_end knows where a state is whole */
    return 0;
}

/* A parser reads a schema from the left to the right, up to its first fault. */
typedef struct samestep_parser {
    const char *at;
    samestep_recorder *r;
    uint32_t nodes;
    uint32_t run; /* the first part that further bytes may join */
} samestep_parser;

static int samestep_type(samestep_parser *p, int depth);

static int samestep_take(samestep_parser *p, char c) {
    p->at += strspn(p->at, " \t\r\n");
    if (*p->at != c) return 0;
    p->at++;
    return 1;
}

/* word reads a name or a number, and returns its size. */
static size_t samestep_word(samestep_parser *p) {
    const char *from = (p->at += strspn(p->at, " \t\r\n"));
    while (*p->at == '_' || (*p->at >= '0' && *p->at <= '9') || (*p->at >= 'A' && *p->at <= 'Z') ||
           (*p->at >= 'a' && *p->at <= 'z')) {
        p->at++;
    }
    return (size_t)(p->at - from);
}

/* append appends a part. There are not more of them than nodes. */
static void samestep_append(samestep_parser *p, uint32_t n, int counted) {
    samestep_part *part = &p->r->parts[p->r->part_count++];
    part->n = n;
    part->counted = (uint16_t)counted;
    part->end = 0;
}

/* run appends bytes to the last part. */
static int samestep_run(samestep_parser *p, uint64_t n) {
    samestep_part *last;
    if (p->r->part_count == p->run) samestep_append(p, 0, 0);
    last = &p->r->parts[p->r->part_count - 1];
    if (last->n + n > 1 << 30) return 0;
    last->n += (uint32_t)n;
    return 1;
}

/* elements reads an array or a slice after its bracket. */
static int samestep_elements_of(samestep_parser *p, int depth) {
    samestep_recorder *r = p->r;
    uint64_t count = 0;
    uint32_t run = p->run, i = r->part_count;
    size_t size = samestep_word(p), k;
    for (k = 0; k < size; k++) {
        char c = (p->at - size)[k];
        if (c < '0' || c > '9' || count > 1 << 30) return 0;
        count = count * 10 + (uint64_t)(c - '0');
    }
    if ((size > 0 && (count == 0 || count > 1 << 30)) || !samestep_take(p, ']')) return 0;
    samestep_append(p, (uint32_t)count, size == 0);
    p->run = r->part_count;
    if (!samestep_type(p, depth + 1)) return 0;
    if (r->part_count > i + 2 || r->parts[i + 1].counted || r->parts[i + 1].end) {
        r->parts[i].end = (uint16_t)r->part_count;
    } else if (size == 0) {
        r->parts[i].n = r->parts[i + 1].n;
        r->part_count = i + 1;
    } else { /* an array of a fixed size is a run of bytes */
        uint32_t each = r->parts[i + 1].n;
        r->part_count = i;
        p->run = run;
        return samestep_run(p, count * each);
    }
    p->run = r->part_count;
    return 1;
}

/* fields reads a struct after its keyword. */
static int samestep_fields(samestep_parser *p, int depth) {
    int empty = 1;
    if (!samestep_take(p, '{')) return 0;
    for (;; empty = 0) {
        const char *from;
        uint32_t names = 0;
        if (samestep_take(p, '}')) return !empty || depth == 1;
        while (names == 0 || samestep_take(p, ',')) {
            size_t size = samestep_word(p);
            const char *word = p->at - size;
            if (size == 0 || (*word >= '0' && *word <= '9')) return p->at = word, 0;
            names++;
        }
        for (from = p->at; names > 0; names--) { /* each has parts of its own */
            p->at = from;
            if (!samestep_type(p, depth + 1)) return 0;
        }
        p->at += strspn(p->at, " \t\r");
        if (*p->at == '\n' || *p->at == ';') {
            p->at++;
        } else if (*p->at != '}') {
            return 0;
        }
    }
}

/* type reads a type, and appends its parts. */
static int samestep_type(samestep_parser *p, int depth) {
    static const struct {
        const char *name;
        uint32_t size;
    } numbers[] = {{"bool", 1},  {"int8", 1},   {"uint8", 1},   {"byte", 1},  {"int16", 2},  {"uint16", 2},
                   {"int32", 4}, {"uint32", 4}, {"float32", 4}, {"int64", 8}, {"uint64", 8}, {"float64", 8}};
    size_t size, i;
    const char *word;
    if (++p->nodes > 4096 || depth > 32) return 0;
    if (samestep_take(p, '[')) return samestep_elements_of(p, depth);
    size = samestep_word(p);
    word = p->at - size;
    if (size == 6 && memcmp(word, "struct", 6) == 0) return samestep_fields(p, depth);
    if (size == 6 && memcmp(word, "string", 6) == 0) {
        samestep_append(p, 1, 1);
        p->run = p->r->part_count;
        return 1;
    }
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strlen(numbers[i].name) == size && memcmp(word, numbers[i].name, size) == 0) return samestep_run(p, numbers[i].size);
    }
    p->at = word;
    return 0;
}

/* parse reads the schema of the states. It returns -1, or the byte from which on it is no struct type. */
static long samestep_parse(samestep_recorder *r, const char *schema) {
    samestep_parser p;
    memset(&p, 0, sizeof p);
    p.r = r;
    p.at = schema + strspn(schema, " \t\r\n");
    if (strncmp(p.at, "struct", 6) != 0 || !samestep_type(&p, 1)) return (long)(p.at - schema);
    p.at += strspn(p.at, " \t\r\n");
    return *p.at ? (long)(p.at - schema) : -1;
}

/* is_fixed reports whether all states have the same size. */
static int samestep_is_fixed(const samestep_recorder *r) {
    return r->part_count == 0 || (r->part_count == 1 && !r->parts[0].counted && !r->parts[0].end);
}

/* next goes to the next part of the state that has bytes, if no bytes are missing before. */
static void samestep_next(samestep_recorder *r) {
    while (r->missing == 0) {
        samestep_elements *in = r->open_count > 0 ? &r->open[r->open_count - 1] : NULL;
        const samestep_part *part = &r->parts[r->part];
        uint32_t count;
        if (in && r->part == in->end) {
            if (--in->left > 0) {
                r->part = in->begin;
            } else {
                r->open_count--;
            }
            continue;
        }
        if (r->part == r->part_count) return;
        if (part->counted && r->counting == 0) {
            r->counting = 1;
            r->count = 0;
            r->missing = 4;
            r->measured += 4;
            return;
        }
        count = part->counted ? r->count : part->end ? part->n : 1;
        r->counting = 0;
        r->part++;
        if (!part->end) {
            r->missing = (uint64_t)count * part->n; /* at most 2^32 * 2^30 */
            r->measured += r->missing;
        } else if (count > 0) {
            in = &r->open[r->open_count++]; /* not more of them than levels of the schema */
            in->begin = r->part;
            in->end = part->end;
            in->left = count;
        } else {
            r->part = part->end;
        }
    }
}

/* measure compares bytes of a state with the parts. */
static void samestep_measure(samestep_recorder *r, const unsigned char *bytes, size_t size) {
    while (size > 0 && r->missing > 0) {
        size_t n = size < r->missing ? size : (size_t)r->missing, i;
        for (i = 0; i < n && r->counting; i++) r->count |= (uint32_t)bytes[i] << (8 * (4 - r->missing + i));
        r->missing -= n;
        bytes += n;
        size -= n;
        if (r->missing == 0) {
            if (r->counting) r->counting = 2;
            samestep_next(r);
        }
    }
}

static void samestep_put_header(samestep_recorder *r, const samestep_header *h, uint32_t micro) {
    uint32_t unit;
    int i;
    samestep_put_text(r, "{\"log\":1,\"title\":", samestep_or_empty(h->title));
    samestep_put_number(r, ",\"tick_rate_hz\":", micro / 1000000);
    micro %= 1000000;
    for (unit = 100000; micro > 0; unit /= 10) {
        samestep_put_number(r, unit == 100000 ? "." : "", micro / unit);
        micro %= unit;
    }
    samestep_put_number(r, ",\"players\":", (uint32_t)h->players);
    if (*samestep_or_empty(h->match)) samestep_put_text(r, ",\"match\":", h->match);
    if (h->by != SAMESTEP_NO_PLAYER) samestep_put_number(r, ",\"by\":", (uint32_t)h->by);
    if (*samestep_or_empty(h->build)) samestep_put_text(r, ",\"build\":", h->build);
    if (*samestep_or_empty(h->platform)) samestep_put_text(r, ",\"platform\":", h->platform);
    for (i = 0; i < h->section_count; i++) samestep_put_text(r, i ? "," : ",\"sections\":[", h->sections[i]);
    if (i > 0) samestep_puts(r, "]");
    if (*samestep_or_empty(h->state)) samestep_put_text(r, ",\"state\":", h->state);
    samestep_puts(r, "}\n");
}

static int samestep_start(samestep_recorder *r, const samestep_header *h) {
    uint32_t micro = 0;
    long fault = -1;
    int i, j;
    r->flush_ticks = 60;
    if (!h) return samestep_fail(r, "header: got NULL, want a header");
    if (!r->write) return samestep_fail(r, "header: got NULL, want a function that writes");
    samestep_sized(r, "a title", samestep_or_empty(h->title), 1, 128);
    samestep_sized(r, "a match", samestep_or_empty(h->match), 0, 128);
    samestep_sized(r, "a build", samestep_or_empty(h->build), 0, 128);
    samestep_sized(r, "a platform", samestep_or_empty(h->platform), 0, 128);
    samestep_sized(r, "a schema", samestep_or_empty(h->state), 0, 64 << 10);
    if (h->tick_rate > 0 && h->tick_rate <= 1000) {
        uint32_t whole = (uint32_t)h->tick_rate;
        volatile double fraction = (h->tick_rate - whole) * 1e6; /* rounded before the addition */
        micro = whole * 1000000 + (uint32_t)(fraction + 0.5);
    }
    if (micro == 0) {
        samestep_fail(r, "header: want a tick rate above 0, at most %d", 1000);
    } else if (h->players < 1 || h->players > 250) {
        samestep_fail(r, "header: got %d players, want 1 to %d", h->players, 250);
    } else if (h->by < SAMESTEP_NO_PLAYER || h->by >= h->players) {
        samestep_fail(r, "header: got %d as the player that records, want 0 to %d, or -1 for none", h->by, h->players - 1);
    } else if (h->section_count < 0 || h->section_count > 64) {
        samestep_fail(r, "header: got %d sections, want at most %d", h->section_count, 64);
    } else if (h->section_count > 0 && !h->sections) {
        samestep_fail(r, "header: got NULL, want %d sections", h->section_count);
    } else {
        for (i = 0; i < h->section_count; i++) {
            samestep_sized(r, "a section", samestep_or_empty(h->sections[i]), 1, 128);
            for (j = 0; j < i && !r->failed; j++) {
                if (strcmp(h->sections[j], h->sections[i]) == 0) samestep_fail(r, "header: sections %d and %d have the same name", j, i);
            }
        }
    }
    if (!r->failed && *samestep_or_empty(h->state)) fault = samestep_parse(r, h->state);
    if (fault >= 0) samestep_fail(r, "header: the schema is no struct type from byte %ld on", fault);
    if (r->failed) return -1;
    r->players = h->players;
    r->by = h->by;
    r->sections = h->section_count;
    r->has_states = *samestep_or_empty(h->state) != 0;
    samestep_put_header(r, h, micro);
    samestep_write_out(r);
    return samestep_record_want(r, samestep_or_empty(getenv("SAMESTEP_DUMP")));
}

int samestep_record_begin(samestep_recorder *r, samestep_write write, void *context, const samestep_header *h) {
    if (!r) return -1;
    memset(r, 0, sizeof *r);
    r->write = write;
    r->context = context;
    return samestep_start(r, h);
}

static int samestep_write_file(void *context, const void *data, size_t size) {
    return fwrite(data, 1, size, (FILE *)context) == size ? 0 : -1;
}

int samestep_record_open(samestep_recorder *r, const char *path, const samestep_header *h) {
    if (!r) return -1;
    memset(r, 0, sizeof *r);
    if (!path) return samestep_fail(r, "open: got NULL, want a path");
    r->file = fopen(path, "wb");
    if (!r->file) return samestep_fail(r, "open %.100s: %s", path, strerror(errno));
    setvbuf(r->file, NULL, _IONBF, 0); /* the recorder has a buffer */
    r->write = samestep_write_file;
    r->context = r->file;
    return samestep_start(r, h) == 0 ? 0 : samestep_record_close(r);
}

void samestep_record_flush_every(samestep_recorder *r, uint32_t ticks) {
    if (r) r->flush_ticks = ticks ? ticks : 1;
}

int samestep_record_command(samestep_recorder *r, uint32_t tick, int player, uint16_t kind, const void *payload, size_t size) {
    uint32_t bit = (uint32_t)1 << (kind % 32);
    unsigned long t = tick;
    if (!samestep_line(r, "command", tick, 1) || !samestep_seated(r, "command", tick, player)) return -1;
    if (tick != r->command_tick) r->commands = r->payloads = 0;
    r->command_tick = tick;
    if (size > 16380) return samestep_fail(r, "command at tick %lu: got a payload of %lu bytes, want at most %d", t, (unsigned long)size, 16380);
    if (size > 0 && !samestep_needs(r, "command", tick, "a payload", payload)) return -1;
    if (r->commands == 8192) return samestep_fail(r, "command at tick %lu: want at most %d commands in a tick", t, 8192);
    if (r->payloads + size > 4 << 20) return samestep_fail(r, "command at tick %lu: want at most %d bytes of payloads in a tick", t, 4 << 20);
    if (!(r->kinds[kind / 32] & bit)) {
        if (r->kind_count == 4096) return samestep_fail(r, "command at tick %lu: want at most %d kinds", t, 4096);
        r->kinds[kind / 32] |= bit;
        r->kind_count++;
    }
    r->commands++;
    r->payloads += (uint32_t)size;
    samestep_open_line(r, tick, player);
    samestep_put_number(r, ",\"s\":", ++r->seats[player].sequence);
    samestep_put_number(r, ",\"k\":", kind);
    samestep_puts(r, ",\"d\":\"");
    samestep_put_base64(r, (const unsigned char *)payload, size);
    samestep_puts(r, "\"");
    return samestep_close_line(r, "command", tick);
}

int samestep_record_sum(samestep_recorder *r, uint32_t tick, int player, uint64_t sum, const uint64_t *sections, int count) {
    samestep_seat *s;
    int i;
    if (!samestep_line(r, "sum", tick, 0) || !samestep_seated(r, "sum", tick, player)) return -1;
    s = &r->seats[player];
    if (tick < s->sums) return samestep_fail(r, "sum at tick %lu: want at least tick %lu", (unsigned long)tick, (unsigned long)s->sums);
    if (count != 0 && count != r->sections) return samestep_fail(r, "sum at tick %lu: got %d sections, want %d", (unsigned long)tick, count, r->sections);
    if (count > 0 && !samestep_needs(r, "sum", tick, "sums of sections", sections)) return -1;
    if (r->sums + (uint32_t)count > 5 << 19) return samestep_fail(r, "sum at tick %lu: want at most %d sums of sections", (unsigned long)tick, 5 << 19);
    r->sums += (uint32_t)count;
    s->sums = tick + 1;
    samestep_open_line(r, tick, player);
    samestep_puts(r, ",\"sum\":");
    samestep_put_hash(r, sum);
    for (i = 0; i < count; i++) {
        samestep_puts(r, i ? "," : ",\"sections\":[");
        samestep_put_hash(r, sections[i]);
    }
    if (count > 0) samestep_puts(r, "]");
    return samestep_close_line(r, "sum", tick);
}

int samestep_record_note(samestep_recorder *r, uint32_t tick, int player, const char *topic, const char *text) {
    unsigned long t = tick;
    if (!samestep_line(r, "note", tick, 1) || (player != SAMESTEP_NO_PLAYER && !samestep_seated(r, "note", tick, player))) return -1;
    if (!samestep_needs(r, "note", tick, "a topic", topic) || !samestep_needs(r, "note", tick, "a text", text)) return -1;
    if (!samestep_valid(topic, 1, 128)) {
        return samestep_fail(r, "note at tick %lu: got a topic of %lu bytes, want 1 to %d bytes of UTF-8", t, (unsigned long)strlen(topic), 128);
    }
    if (!samestep_valid(text, 0, 1024)) {
        return samestep_fail(r, "note at tick %lu: got a text of %lu bytes, want 0 to %d bytes of UTF-8", t, (unsigned long)strlen(text), 1024);
    }
    samestep_open_line(r, tick, player);
    samestep_put_text(r, ",\"note\":", topic);
    samestep_put_text(r, ",\"text\":", text);
    return samestep_close_line(r, "note", tick);
}

/* is_mark reports whether a phase or a stream may have the name. */
static int samestep_is_mark(const char *name, size_t size) {
    size_t i;
    for (i = 0; i < size; i++) {
        char c = name[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '-' && c <= ':') || c == '_')) return 0; /* - . / 0 to 9 : */
    }
    return size >= 1 && size <= 64;
}

/* leave_out counts a call that is left out, and says why the first one is. */
static int samestep_leave_out(samestep_recorder *r, const char *format, ...) {
    if (r->left_out++ == 0) {
        va_list args;
        const size_t n = 10;
        memcpy(r->error, "recorder: ", n);
        va_start(args, format);
        r->left_size = (int)n + vsnprintf(r->error + n, sizeof r->error - n, format, args);
        va_end(args);
    }
    snprintf(r->error + r->left_size, sizeof r->error - (size_t)r->left_size, "; calls left out: %lu", (unsigned long)r->left_out);
    return -1;
}

/* mark appends an item to the text of the next note, after it has written the text if that is of another tick or full. */
static int samestep_mark(samestep_recorder *r, const char *what, uint32_t tick, const char *name, int draws, const char *digits, size_t n) {
    size_t size = name ? strlen(name) : 0;
    unsigned long t = tick;
    if (!r) return -1;
    if (r->mark_size > 0 && tick != r->mark_tick) samestep_write_marks(r);
    if (!samestep_may(r, what, tick, 1)) return -1;
    if (!name) return samestep_leave_out(r, "%s at tick %lu: got NULL, want a name", what, t);
    if (!samestep_is_mark(name, size)) {
        return samestep_leave_out(r, "%s at tick %lu: got a name of %lu bytes, want 1 to %d ASCII letters, digits or ._-/:", what, t, (unsigned long)size, 64);
    }
    if (tick != r->mark_tick) r->mark_counts[0] = r->mark_counts[1] = 0;
    r->mark_tick = tick;
    if (r->mark_counts[draws] == 64) return samestep_leave_out(r, "%s at tick %lu: want at most %d in a tick", what, t, 64);
    if (r->mark_size > 0 && r->mark_size + 1 + size + 1 + n > sizeof r->marks) {
        samestep_write_marks(r);
        if (!samestep_may(r, what, tick, 1)) return -1;
    }
    r->mark_counts[draws]++;
    if (r->mark_size > 0) r->marks[r->mark_size++] = ' ';
    memcpy(r->marks + r->mark_size, name, size);
    r->mark_size += (uint32_t)size;
    r->marks[r->mark_size++] = draws ? '#' : '=';
    memcpy(r->marks + r->mark_size, digits, n);
    r->mark_size += (uint32_t)n;
    return 0;
}

int samestep_record_phase(samestep_recorder *r, uint32_t tick, const char *name, uint64_t sum) {
    char digits[16];
    int i;
    for (i = 15; i >= 0; i--) {
        digits[i] = "0123456789abcdef"[sum & 15];
        sum >>= 4;
    }
    return samestep_mark(r, "phase", tick, name, 0, digits, sizeof digits);
}

int samestep_record_draws(samestep_recorder *r, uint32_t tick, const char *stream, uint64_t count) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + count % 10);
        count /= 10;
    } while (count > 0);
    return samestep_mark(r, "draws", tick, stream, 1, digits + at, sizeof digits - at);
}

int samestep_record_wanted(const samestep_recorder *r, uint32_t tick) {
    uint32_t i;
    for (i = 0; r && i < r->wanted_count; i++) {
        if (r->wanted[i][0] <= tick && tick <= r->wanted[i][1]) return !r->failed;
    }
    return 0;
}

/* parse_tick reads a tick, and returns where it ends, or NULL. */
static const char *samestep_parse_tick(const char *text, uint32_t *tick) {
    const char *start = text;
    *tick = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        *tick = *tick * 10 + (uint32_t)(*text - '0');
        if (*tick > SAMESTEP_MAX_TICK) return NULL;
    }
    return text > start ? text : NULL;
}

int samestep_record_want(samestep_recorder *r, const char *ticks) {
    if (!r) return -1;
    while (ticks && *ticks) {
        uint32_t first, last;
        ticks = samestep_parse_tick(ticks, &first);
        last = first;
        if (ticks && *ticks == '-') ticks = samestep_parse_tick(ticks + 1, &last);
        if (ticks && *ticks == ',') {
            ticks++;
            if (!*ticks) ticks = NULL;
        } else if (ticks && *ticks) {
            ticks = NULL;
        }
        if (!ticks || first > last || r->wanted_count == 64) {
            r->wanted_count = 0;
            return samestep_fail(r, "SAMESTEP_DUMP: want at most %d ticks or ranges, such as 77,78 or 70-80", 64);
        }
        r->wanted[r->wanted_count][0] = first;
        r->wanted[r->wanted_count++][1] = last;
    }
    return r->failed ? -1 : 0;
}

/* dump writes the part of the state that is buffered. */
static int samestep_dump(samestep_recorder *r, int more) {
    int player = (int)r->dump_player;
    r->dumping = 0;
    if (!samestep_line(r, "state", r->dump_tick, 0) || !samestep_seated(r, "state", r->dump_tick, player)) return -1;
    samestep_open_line(r, r->dump_tick, player);
    samestep_puts(r, ",\"state\":\"");
    samestep_put_base64(r, r->dump, r->dump_size);
    samestep_puts(r, more ? "\",\"more\":true" : "\"");
    r->dump_size = 0;
    r->dumping = more;
    return samestep_close_line(r, "state", r->dump_tick);
}

int samestep_record_state_begin(samestep_recorder *r, uint32_t tick, int player) {
    if (!samestep_line(r, "state", tick, 0) || !samestep_seated(r, "state", tick, player)) return -1;
    if (!r->has_states) return samestep_fail(r, "state at tick %lu: the header has no schema", (unsigned long)tick);
    if (tick < r->seats[player].dumps) {
        return samestep_fail(r, "state at tick %lu: want at least tick %lu", (unsigned long)tick, (unsigned long)r->seats[player].dumps);
    }
    if (r->states == 1 << 16) return samestep_fail(r, "state at tick %lu: want at most %d states", (unsigned long)tick, 1 << 16);
    r->dump_tick = tick;
    r->dump_player = (uint32_t)player;
    r->dump_size = r->dump_all = 0;
    r->part = r->open_count = 0;
    r->counting = 0;
    r->measured = r->missing = 0;
    r->dumping = 1;
    samestep_next(r);
    return 0;
}

int samestep_record_state_end(samestep_recorder *r) {
    unsigned long t, got;
    if (!r || r->failed) return -1;
    if (!r->dumping) return samestep_fail(r, "state: an end without a beginning");
    t = r->dump_tick;
    got = r->dump_all;
    if (r->missing > 0 && !samestep_is_fixed(r)) {
        return samestep_fail(r, "state at tick %lu: got %lu bytes, want at least %llu", t, got, (unsigned long long)r->measured);
    }
    if (r->measured != got) return samestep_fail(r, "state at tick %lu: got %lu bytes, want %llu", t, got, (unsigned long long)r->measured);
    if (samestep_dump(r, 0) != 0) return -1;
    r->whole = r->size;
    r->seats[r->dump_player].dumps = r->dump_tick + 1;
    r->states++;
    return samestep_record_flush(r);
}

int samestep_record_bytes(samestep_recorder *r, const void *bytes, size_t size) {
    const unsigned char *from = (const unsigned char *)bytes;
    if (!r || r->failed) return -1;
    if (!r->dumping) return samestep_fail(r, "state: a value without a beginning");
    if (size > 0 && !samestep_needs(r, "state", r->dump_tick, "bytes", bytes)) return -1;
    if (size > (8 << 20) - r->dump_all) return samestep_fail(r, "state at tick %lu: want at most %d bytes in a state", (unsigned long)r->dump_tick, 8 << 20);
    r->dump_all += (uint32_t)size;
    samestep_measure(r, from, size);
    while (size > 0) {
        size_t n = sizeof r->dump - r->dump_size;
        if (n == 0) {
            if (samestep_dump(r, 1) != 0) return -1;
            continue;
        }
        if (n > size) n = size;
        memcpy(r->dump + r->dump_size, from, n);
        r->dump_size += (uint32_t)n;
        from += n;
        size -= n;
    }
    return 0;
}

static int samestep_value(samestep_recorder *r, uint64_t n, size_t size) {
    unsigned char bytes[8];
    size_t i;
    for (i = 0; i < size; i++) bytes[i] = (unsigned char)(n >> (8 * i));
    return samestep_record_bytes(r, bytes, size);
}

int samestep_record_bool(samestep_recorder *r, int value) { return samestep_value(r, value != 0, 1); }
int samestep_record_u8(samestep_recorder *r, uint8_t value) { return samestep_value(r, value, 1); }
int samestep_record_u16(samestep_recorder *r, uint16_t value) { return samestep_value(r, value, 2); }
int samestep_record_u32(samestep_recorder *r, uint32_t value) { return samestep_value(r, value, 4); }
int samestep_record_u64(samestep_recorder *r, uint64_t value) { return samestep_value(r, value, 8); }
int samestep_record_i8(samestep_recorder *r, int8_t value) { return samestep_value(r, (uint64_t)value, 1); }
int samestep_record_i16(samestep_recorder *r, int16_t value) { return samestep_value(r, (uint64_t)value, 2); }
int samestep_record_i32(samestep_recorder *r, int32_t value) { return samestep_value(r, (uint64_t)value, 4); }
int samestep_record_i64(samestep_recorder *r, int64_t value) { return samestep_value(r, (uint64_t)value, 8); }

int samestep_record_f32(samestep_recorder *r, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return samestep_value(r, bits, 4);
}

int samestep_record_f64(samestep_recorder *r, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return samestep_value(r, bits, 8);
}

int samestep_record_text(samestep_recorder *r, const char *text, uint32_t size) {
    return samestep_value(r, size, 4) != 0 ? -1 : samestep_record_bytes(r, text, size);
}

int samestep_record_end(samestep_recorder *r, uint32_t tick) {
    if (!samestep_line(r, "end", tick, 1)) return -1;
    r->ended = 1;
    samestep_open_line(r, tick, SAMESTEP_NO_PLAYER);
    samestep_puts(r, ",\"end\":true");
    samestep_close_line(r, "end", tick);
    return samestep_record_flush(r);
}

static int samestep_write_out(samestep_recorder *r) {
    size_t size;
    if (r->failed) return -1;
    size = r->size;
    r->size = r->whole = 0;
    if (size > 0 && r->write(r->context, r->buffer, size) != 0) return samestep_fail(r, "write failed");
    return 0;
}

int samestep_record_flush(samestep_recorder *r) {
    if (!r) return -1;
    samestep_write_marks(r);
    return samestep_write_out(r);
}

int samestep_record_close(samestep_recorder *r) {
    if (!r) return -1;
    if (!r->write) return samestep_fail(r, "close: the recorder is not open");
    if (r->dumping) samestep_fail(r, "state at tick %lu: has no end", (unsigned long)r->dump_tick);
    if (r->failed && r->size > 0) r->write(r->context, r->buffer, r->size); /* what was right before a wrong call */
    samestep_record_flush(r);
    r->size = r->whole = 0;
    r->ended = 1;
    if (r->file && fclose(r->file) != 0) samestep_fail(r, "close failed");
    r->file = NULL;
    return r->failed || r->left_out ? -1 : 0;
}

const char *samestep_record_error(const samestep_recorder *r) {
    if (!r) return "recorder: got NULL, want a recorder";
    return r->failed || r->left_out ? r->error : NULL;
}

#ifdef __cplusplus
}
#endif

#endif /* SAMESTEP_RECORDER_IMPLEMENTATION */
