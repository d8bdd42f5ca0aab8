/* The interface of rules modules, version 1, for C. docs/spec/abi.md specifies it; examples/pebbles uses it.
 *
 * A module includes this file once and defines rules_answer:
 *
 *     clang --target=wasm32 -O2 -ffreestanding -fno-builtin -nostdlib -Wl,--no-entry -o game.wasm game.c
 */
#ifndef SAMESTEP_RULES_H
#define SAMESTEP_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* The functions that a module answers. */
enum rules_function {
	RULES_DESCRIBE = 0,   /* nothing -> a description, JSON */
	RULES_CONFIGURE = 1,  /* a match -> nothing */
	RULES_ASSETS = 2,     /* nothing -> a list of assets */
	RULES_LOAD = 3,       /* contents -> nothing */
	RULES_NEW = 4,        /* nothing -> nothing */
	RULES_RESTORE = 5,    /* a state -> nothing */
	RULES_SAVE = 6,       /* nothing -> the world */
	RULES_STEP = 7,       /* a frame -> an outcome, or an answer if it refuses commands */
	RULES_VALIDATE = 8,   /* a command -> nothing */
	RULES_WORD = 9,       /* a command -> a text */
	RULES_VIEW = 10,      /* the text of a viewer -> its view */
	RULES_VIEW_OF = 11,   /* a player -> the text of a viewer */
	RULES_USUAL = 12      /* a number of players -> a configuration */
};

/* The statuses of an answer. */
enum rules_status { RULES_OK = 0, RULES_REFUSED = 1, RULES_PANICKED = 2 };

/* RULES_SYSTEM is the player of the engine's own commands. */
#define RULES_SYSTEM 255

/* A rules_reader reads canonical bytes. After bytes that are missing it gives zeros, and bad is true. */
struct rules_reader {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint64_t rules_read(struct rules_reader *r, uint32_t bytes) {
	uint64_t v = 0;
	if ((uint32_t)(r->end - r->at) < bytes) {
		r->bad = true;
		r->at = r->end;
		return 0;
	}
	for (uint32_t i = 0; i < bytes; i++)
		v |= (uint64_t)r->at[i] << (8 * i);
	r->at += bytes;
	return v;
}

static inline uint8_t rules_u8(struct rules_reader *r) { return (uint8_t)rules_read(r, 1); }
static inline uint16_t rules_u16(struct rules_reader *r) { return (uint16_t)rules_read(r, 2); }
static inline uint32_t rules_u32(struct rules_reader *r) { return (uint32_t)rules_read(r, 4); }
static inline uint64_t rules_u64(struct rules_reader *r) { return rules_read(r, 8); }

/* rules_bytes reads a slice of bytes, or a string. */
static inline struct rules_reader rules_bytes(struct rules_reader *r) {
	uint32_t n = rules_u32(r);
	if ((uint32_t)(r->end - r->at) < n) {
		r->bad = true;
		n = 0;
	}
	struct rules_reader part = {r->at, r->at + n, false};
	r->at += n;
	return part;
}

/* A rules_command is one of a player or of the engine. */
struct rules_command {
	uint32_t tick;
	uint8_t player;
	uint16_t kind;
	uint32_t sequence;
	struct rules_reader payload;
};

static inline struct rules_command rules_read_command(struct rules_reader *r) {
	struct rules_command c;
	c.tick = rules_u32(r);
	c.player = rules_u8(r);
	c.kind = rules_u16(r);
	c.sequence = rules_u32(r);
	c.payload = rules_bytes(r);
	return c;
}

/* rules_output has the answer that is being written. A module traps before it writes more than fits. */
#ifndef RULES_OUTPUT_BYTES
#define RULES_OUTPUT_BYTES (64 * 1024)
#endif
static uint8_t rules_output[RULES_OUTPUT_BYTES];
static uint32_t rules_written;

static inline void rules_write(uint64_t v, uint32_t bytes) {
	if (rules_written + bytes > RULES_OUTPUT_BYTES)
		__builtin_trap();
	for (uint32_t i = 0; i < bytes; i++)
		rules_output[rules_written++] = (uint8_t)(v >> (8 * i));
}

static inline void rules_text(const char *text) {
	for (; *text; text++)
		rules_write((uint8_t)*text, 1);
}

static inline void rules_decimal(uint32_t v) {
	if (v >= 10)
		rules_decimal(v / 10);
	rules_write('0' + v % 10, 1);
}

/* rules_refuse writes a reason and returns the status for it. */
static inline enum rules_status rules_refuse(const char *why) {
	rules_written = 0;
	rules_text(why);
	return RULES_REFUSED;
}

/* rules_answer answers a function: it writes the answer, and returns its status. The game defines it. */
static enum rules_status rules_answer(enum rules_function f, struct rules_reader in);

static uint8_t *rules_input;
static uint32_t rules_room;

__attribute__((export_name("samestep_buffer"))) uint8_t *samestep_buffer(uint32_t size) {
	if (size > rules_room) {
		uint32_t pages = size / 65536 + 1;
		uint32_t first = (uint32_t)__builtin_wasm_memory_grow(0, pages);
		if (first == UINT32_MAX)
			__builtin_trap();
		rules_input = (uint8_t *)(first * 65536);
		rules_room = pages * 65536;
	}
	return rules_input;
}

__attribute__((export_name("samestep_call"))) uint64_t samestep_call(uint32_t f, uint32_t size) {
	struct rules_reader in = {rules_input, rules_input + size, false};
	rules_written = 0;
	uint64_t status = rules_answer((enum rules_function)f, in);
	return status << 62 | (uint64_t)(uintptr_t)rules_output << 32 | rules_written;
}

#endif
