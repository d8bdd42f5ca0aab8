/* Pebbles is a small game in C, as a module of rules. Players take pebbles from piles, at most three at a time, and rest
 * after that. New pebbles roll in now and then. The match ends when all piles are empty. */
#include "samestep_rules.h"

#define MAX_PILES 16
#define MAX_PLAYERS 64

enum { TAKE = 1, DROP = 2 };

static struct {
	uint8_t piles;
	uint16_t pebbles;
} config;

static uint64_t seed;
static uint8_t players;

/* The world. describe has its type. */
static struct {
	uint64_t rand;
	uint32_t piles;
	uint16_t pile[MAX_PILES];
	uint32_t players;
	struct {
		uint32_t taken;
		uint16_t rest; /* ticks until the next turn */
	} player[MAX_PLAYERS];
} world;

#ifdef PLANTED
static uint32_t steps; /* which is in no state: a mistake */
#endif

static enum rules_status describe(void) {
	rules_text("{\"abi\":1,\"game\":\"pebbles\",\"build\":\"1\",\"words\":true,"
	           "\"config\":\"struct { Piles uint8; Pebbles uint16 }\","
	           "\"state\":\"struct { Rand uint64; Piles []uint16; Players []struct { Taken uint32; Rest uint16 } }\","
	           "\"result\":\"struct { Taken []uint32 }\","
	           "\"view\":\"struct { Piles []uint16; Taken uint32; Rest uint16 }\","
	           "\"commands\":["
	           "{\"kind\":1,\"name\":\"take\",\"payload\":\"struct { Pile, N uint8 }\",\"limit\":20,\"per_us\":\"1000000\"},"
	           "{\"kind\":2,\"name\":\"drop\",\"payload\":\"struct { Pile uint8 }\"}]}");
	return RULES_OK;
}

static enum rules_status configure(struct rules_reader in) {
	seed = rules_u64(&in);
	players = rules_u8(&in);
	rules_read(&in, 4); /* tick period */
	struct rules_reader c = rules_bytes(&in);
	config.piles = rules_u8(&c);
	config.pebbles = rules_u16(&c);
	if (in.bad || c.bad)
		return rules_refuse("the match ends early");
	return RULES_OK;
}

static uint64_t draw(void) { /* xorshift64 */
	world.rand ^= world.rand << 13;
	world.rand ^= world.rand >> 7;
	world.rand ^= world.rand << 17;
	return world.rand;
}

static enum rules_status begin(void) {
	if (config.piles < 1 || config.piles > MAX_PILES)
		return rules_refuse("piles: want 1 to 16");
	if (config.pebbles < 1 || config.pebbles > 1000)
		return rules_refuse("pebbles: want 1 to 1000");
	if (players > MAX_PLAYERS)
		return rules_refuse("players: want at most 64");
	world.rand = seed ? seed : 1;
	world.piles = config.piles;
	for (uint32_t i = 0; i < world.piles; i++)
		world.pile[i] = (uint16_t)(1 + draw() % config.pebbles);
	world.players = players;
	for (uint32_t p = 0; p < world.players; p++)
		world.player[p].taken = world.player[p].rest = 0;
	return RULES_OK;
}

static enum rules_status save(void) {
	rules_write(world.rand, 8);
	rules_write(world.piles, 4);
	for (uint32_t i = 0; i < world.piles; i++)
		rules_write(world.pile[i], 2);
	rules_write(world.players, 4);
	for (uint32_t p = 0; p < world.players; p++) {
		rules_write(world.player[p].taken, 4);
		rules_write(world.player[p].rest, 2);
	}
	return RULES_OK;
}

static enum rules_status restore(struct rules_reader in) {
	rules_u32(&in); /* the tick */
	struct rules_reader w = rules_bytes(&in);
	world.rand = rules_u64(&w);
	world.piles = rules_u32(&w);
	if (world.piles < 1 || world.piles > MAX_PILES)
		return rules_refuse("the state has no piles, or too many");
	for (uint32_t i = 0; i < world.piles; i++)
		world.pile[i] = rules_u16(&w);
	world.players = rules_u32(&w);
	if (world.players > MAX_PLAYERS)
		return rules_refuse("the state has too many players");
	for (uint32_t p = 0; p < world.players; p++) {
		world.player[p].taken = rules_u32(&w);
		world.player[p].rest = rules_u16(&w);
	}
	return w.bad ? rules_refuse("the state ends early") : RULES_OK;
}

/* act returns why a command does nothing, or 0. It changes the world only if really is true. */
static const char *act(struct rules_command c, bool really) {
	uint8_t pile = rules_u8(&c.payload) % world.piles; /* they stand in a circle */
	if (c.player >= world.players)
		return "there is no such player";
	if (world.player[c.player].rest > 0)
		return "the player rests";
	if (c.kind == TAKE) {
		uint8_t n = rules_u8(&c.payload) & 3;
		if (n == 0)
			return "want 1 to 3 pebbles";
		if (world.pile[pile] < n)
			return "the pile has fewer pebbles";
		if (really) {
			world.pile[pile] -= n;
			world.player[c.player].taken += n;
			world.player[c.player].rest = 5;
		}
		return 0;
	}
	if (world.player[c.player].taken == 0)
		return "the player has no pebble";
	if (really) {
		world.player[c.player].taken--;
		world.pile[pile]++;
		world.player[c.player].rest = 1;
	}
	return 0;
}

static enum rules_status step(struct rules_reader in) {
	rules_u32(&in); /* the tick */
	rules_u8(&in);  /* draws */
	rules_u8(&in);  /* phases */
	for (uint32_t n = rules_u32(&in); n > 0; n--) {
		struct rules_command c = rules_read_command(&in);
		if (c.player != RULES_SYSTEM)
			act(c, true);
	}
	for (uint32_t p = 0; p < world.players; p++)
		if (world.player[p].rest > 0)
			world.player[p].rest--;
	if (draw() % 64 == 0)
		world.pile[draw() % world.piles]++;
#ifdef PLANTED
	if (++steps % 40 == 0)
		world.pile[0]++;
#endif
	uint32_t left = 0;
	for (uint32_t i = 0; i < world.piles; i++)
		left += world.pile[i];
	rules_write(left == 0, 1);
	if (left == 0) {
		rules_write(4 + 4 * world.players, 4);
		rules_write(world.players, 4);
		for (uint32_t p = 0; p < world.players; p++)
			rules_write(world.player[p].taken, 4);
	} else {
		rules_write(0, 4);
	}
	rules_write(0, 4); /* no draws */
	rules_write(0, 4); /* no phases */
	return RULES_OK;
}

static enum rules_status validate(struct rules_reader in) {
	const char *why = act(rules_read_command(&in), false);
	return why ? rules_refuse(why) : RULES_OK;
}

static enum rules_status word(struct rules_reader in) {
	struct rules_command c = rules_read_command(&in);
	uint32_t pile = rules_u8(&c.payload);
	rules_text(c.kind == TAKE ? "takes " : "drops 1");
	if (c.kind == TAKE)
		rules_decimal(rules_u8(&c.payload) & 3);
	rules_text(c.kind == TAKE ? " from pile " : " on pile ");
	rules_decimal(pile);
	return RULES_OK;
}

static enum rules_status view(struct rules_reader in) {
	static const char prefix[] = "player:";
	uint32_t player = 0, i = 0;
	for (; prefix[i]; i++)
		if (rules_u8(&in) != (uint8_t)prefix[i])
			return rules_refuse("only players see a match");
	while (in.at < in.end)
		player = player * 10 + (rules_u8(&in) - '0');
	if (player >= world.players)
		return rules_refuse("there is no such player");
	rules_write(world.piles, 4);
	for (i = 0; i < world.piles; i++)
		rules_write(world.pile[i], 2);
	rules_write(world.player[player].taken, 4);
	rules_write(world.player[player].rest, 2); /* validate answers by it */
	return RULES_OK;
}

static enum rules_status rules_answer(enum rules_function f, struct rules_reader in) {
	switch (f) {
	case RULES_DESCRIBE:
		return describe();
	case RULES_CONFIGURE:
		return configure(in);
	case RULES_ASSETS:
		rules_write(0, 4);
		return RULES_OK;
	case RULES_LOAD:
		return RULES_OK;
	case RULES_NEW:
		return begin();
	case RULES_RESTORE:
		return restore(in);
	case RULES_SAVE:
		return save();
	case RULES_STEP:
		return step(in);
	case RULES_VALIDATE:
		return validate(in);
	case RULES_WORD:
		return word(in);
	case RULES_VIEW:
		return view(in);
	case RULES_VIEW_OF:
		rules_text("player:");
		rules_decimal(rules_u8(&in));
		return RULES_OK;
	case RULES_USUAL:
		rules_write(4, 1);
		rules_write(20, 2);
		return RULES_OK;
	}
	return rules_refuse("an unknown function");
}
