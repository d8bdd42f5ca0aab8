package conformance

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// A messageCase is one message, which may be malformed.
type messageCase struct {
	id    string
	rules string
	about string
	bytes []byte
}

// messageCases returns cases with one verdict.
func messageCases(verdict string, cases []messageCase) []Built {
	var all []Built
	for _, c := range cases {
		all = append(all, Built{
			Case{ID: "message-" + c.id, Kind: "message", File: "message/message-" + c.id + ".hex", Rules: strings.Fields(c.rules), Verdict: verdict, About: c.about},
			fmt.Appendf(nil, "# %s\n%s\n", c.about, hex.EncodeToString(c.bytes)),
		})
	}
	return all
}

const maxU32, maxU64 uint64 = 1<<32 - 1, 1<<64 - 1

var (
	sessionOne = []byte("\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01")
	noSession  = []byte{}
	selfTests  = array{uint64(0x523497c62e457d30), uint64(0xe23a4bde19110887), uint64(0xd30e9ebf3a0cb12f), uint64(0x18067e689573a40f), 0}
)

// An auth is the values of an auth message. Zero values stand for those of a client of the
// conformance game.
type auth struct {
	protocol                      uint64
	can                           array
	engine, game, build, platform string
	state, commands               uint64
	sums                          array
	token                         string
	session                       []byte
	position                      uint64
}

// message returns the bytes of an auth.
func (a auth) message() []byte {
	or := func(s *string, otherwise string) {
		if *s == "" {
			*s = otherwise
		}
	}
	or(&a.engine, "samestep/1")
	or(&a.game, "conform")
	or(&a.build, "1")
	or(&a.platform, "conformance")
	if a.protocol == 0 {
		a.protocol = 1
	}
	if a.state == 0 {
		a.state = fingerprint(stateSchema)
	}
	if a.commands == 0 {
		a.commands = commandFingerprint()
	}
	if a.sums == nil {
		a.sums = selfTests
	}
	if a.can == nil {
		a.can = array{}
	}
	if a.session == nil {
		a.session = noSession
	}
	return recordBytes(32, a.protocol, a.engine, a.game, a.build, a.state, a.commands, a.sums, a.platform, a.token, a.session, a.position, a.can)
}

// goodMessages has each kind of message, with values at the ends of their ranges.
func goodMessages() []Built {
	return messageCases(messageOK, []messageCase{
		{"auth", "P-form P-identity", "The auth of a player with a token.", auth{token: "token-of-ada-0000"}.message()},
		{"auth-resume", "P-session P-resume P-session-form", "An auth that resumes with a session, without a token, from position 77 on.", auth{session: sessionOne, position: 77}.message()},
		{"auth-large", "P-range", "An auth with the largest numbers and texts of the largest lengths.",
			auth{protocol: maxU32, engine: strings.Repeat("e", 128), game: strings.Repeat("g", 128), build: strings.Repeat("b", 128), state: maxU64, commands: maxU64,
				sums: array{maxU64, maxU64, maxU64, maxU64, maxU64}, platform: strings.Repeat("p", 128), token: strings.Repeat("t", 2048), session: sessionOne, position: 1 << 62}.message()},
		{"auth-capabilities", "P-capabilities", "An auth with a capability that nobody knows, and one of this page.", auth{can: array{"fly", "resimulate"}}.message()},
		{"command", "P-command", "Command 1 of kind 1, which adds 5 coins.", recordBytes(33, 1, kindAdd, addPayload(5))},
		{"command-large", "P-command P-range", "The highest sequence and kind.", recordBytes(33, maxU32, 65535, []byte{})},
		{"checksum", "P-check", "The checksum of tick 20, with the sums of four sections.", recordBytes(34, 20, maxU64, array{1, 2, 3, maxU64})},
		{"checksum-bare", "P-check", "A checksum without sections.", recordBytes(34, 20, 7, array{})},
		{"state", "P-state P-chunk-form", "The second half of a state of 4 bytes.", recordBytes(35, 20, 2, 4, []byte{3, 4})},
		{"state-none", "P-state", "The answer that a state is not kept.", recordBytes(35, 20, 0, 0, []byte{})},
		{"state-sync-request", "P-sync-request", "A request for a keyframe: an array of one value.", recordBytes(36)},
		{"ping", "P-ping", "A ping with the largest nonce.", recordBytes(37, maxU64)},
		{"chat", "P-chat P-text", "A line of chat with text that is not ASCII.", recordBytes(38, "gr\u00fc\u00df \u4f60\u597d")},
		{"leave", "P-leave", "A client that gives up its seat, and says why.", recordBytes(39, "gr\u00fc\u00df")},
		{"ack", "P-ack", "Every record before position 2^40 has arrived, and tick 8 was simulated.", recordBytes(40, uint64(1<<40), 8)},
		{"ready", "P-ready", "A player that is ready to begin.", recordBytes(42, true)},
		{"held", "P-held", "The match waits for seats 0 and 249, since 2 s and for at most 3 s more.", recordBytes(58, "the match waits", []byte{0, 249}, 2000, 3000)},
		{"view-sync", "P-view-sync", "Views of team 1, every second tick of 50 ms, with a plan of two bytes.", recordBytes(60, "team:1", 4, 2, 50000, []byte{1, 2})},
		{"view-delta", "P-view-delta", "The first part of view 9, from view 8, at tick 40.", recordBytes(61, 9, 8, 40, 0, 4, []byte{1, 2, 3})},
		{"view-delta-nothing", "P-view-quiet", "Nothing has changed since view 9 up to tick 60.", recordBytes(61, 9, 9, 60, 0, 0, []byte{})},
		{"view-ack", "P-view-ack", "View 9, at tick 40, has arrived.", recordBytes(45, 9, 40)},
		{"resimulate", "P-resimulate", "A request to compute ticks 21 to 40 again.", recordBytes(59, 20, 40, false)},
		{"resimulate-state", "P-resimulate", "A request for the state of tick 33, computed again from that of tick 20.", recordBytes(59, 20, 33, true)},
		{"resimulated", "P-resimulated", "Tick 21 has another state hash than at first, and four sections.", recordBytes(43, 21, 7, maxU64, array{1, 2, 3, maxU64})},
		{"resimulated-bare", "P-resimulated", "The first state hash is not kept, and there are no sections.", recordBytes(43, 22, 0, 9, array{})},
		{"resimulated-none", "P-resimulated", "The answer that the ticks cannot be computed again.", recordBytes(43, 0, 0, 0, array{})},
		{"flight-request", "P-flight", "A request for the record of the last ticks, because of tick 40.", recordBytes(62, 40)},
		{"flight", "P-flight", "The first two bytes of a record.", recordBytes(47, 40, 0, 5, []byte{1, 2})},
		{"flight-none", "P-flight", "There is no record.", recordBytes(47, 40, 0, 0, []byte{})},
		{"phases", "P-phases", "Tick 33 has two phases, and these state hashes at their beginnings.", recordBytes(44, 33, array{"move", "combat"}, array{7, maxU64})},
		{"phases-none", "P-phases", "Tick 33 has no phases.", recordBytes(44, 33, array{}, array{})},
		{"panicked", "P-panicked", "The rules panicked on the client's machine in tick 33.", recordBytes(46, 33, "Step", "index out of range", "rules.step(...)")},
		{"panicked-bare", "P-panicked", "The same without words and without a stack.", recordBytes(46, 33, "Step", "", "")},
		{"held-over", "P-held", "The match goes on.", recordBytes(58, "", []byte{}, 0, 0)},
		{"welcome", "P-welcome-position", "The welcome of a player that resumes.", recordBytes(48, 1, 1, sessionOne, 300, 310, true, 12, 10, 2, 100)},
		{"welcome-spectator", "P-session-form", "The welcome of a spectator: seat 255, no session.", recordBytes(48, 255, 0, noSession, 300, 310, false, 0, 10, 250, 1000)},
		{"welcome-least", "P-welcome-range", "A welcome with the smallest numbers.", recordBytes(48, 0, 2, sessionOne, 0, 1, false, 0, 1, 0, 10)},
		{"state-sync", "P-sync P-chunk-form", "A chunk of a state.", recordBytes(49, 301, 300, 32768, 65537, []byte(strings.Repeat("x", 32768)))},
		{"packed-sync", "P-sync-packed", "A piece of a state: 512 zeros, deflated.", recordBytes(63, 301, 300, 65536, 66048, []byte{0x63, 0x60, 0x18, 0x05, 0x23, 0x19, 0, 0})},
		{"command-accepted", "P-command", "Command 1 runs in tick 302.", recordBytes(50, 1, 302)},
		{"command-rejected", "P-command-reason", "Command 2 is refused by the game.", recordBytes(51, 2, 9, "nothing to add")},
		{"command-rejected-unknown", "P-unknown-reason", "A reason that no version has yet.", recordBytes(51, 2, 200, "")},
		{"state-request", "P-state", "A request for the state after tick 20.", recordBytes(52, 20)},
		{"desync-report", "P-desync", "Player 1 differs at tick 40, and agreed at tick 20.", recordBytes(53, 40, 1, 20, "Coins")},
		{"pong", "P-ping", "The answer to a ping.", recordBytes(54, maxU64, 300)},
		{"error", "P-identity", "An error that names a field.", recordBytes(56, 2, "got 2, want 1", "build")},
		{"error-unknown", "P-unknown-error", "An error code that no version has yet.", recordBytes(56, 99, "", "")},
		{"closing", "P-closing", "The server stops; come back after 5 s.", recordBytes(57, 8, "the server is shut down", 5000)},
		{"closing-unknown", "P-unknown-closing", "A closing code that no version has yet.", recordBytes(57, 99, "", 0)},
	})
}

// brokenMessages are messages that each break one rule.
func brokenMessages() []Built {
	authBytes := auth{token: "token-of-ada-0000"}.message()
	return messageCases(messageMalformed, []messageCase{
		{"not-array", "P-form", "A number in place of an array.", []byte{0x25}},
		{"array-empty", "P-form", "An array without a kind.", recordBytes()},
		{"map", "P-form", "A map.", []byte{0x81, 0x25, 0x01}},
		{"kind-text", "P-form", "A kind that is a string.", recordBytes("ping", 1)},
		{"kind-negative", "P-form", "A negative kind.", recordBytes(raw("\xff"), 1)},
		{"kind-unknown", "P-unknown-kind", "Kind 41, which is not assigned.", recordBytes(41)},
		{"kind-unknown-server", "P-unknown-kind", "Kind 55, which is not assigned.", recordBytes(55, 1)},
		{"cut", "P-form", "An auth without its last byte.", authBytes[:len(authBytes)-1]},
		{"capabilities-order", "P-capabilities", "The capabilities do not ascend.", auth{can: array{"views", "resimulate"}}.message()},
		{"capabilities-twice", "P-capabilities", "A capability stands twice.", auth{can: array{"views", "views"}}.message()},
		{"few-values", "P-count", "A ping without its nonce.", recordBytes(37)},
		{"many-values", "P-count", "A leave with a value.", recordBytes(39, 0)},
		{"number-long", "P-smallest", "A nonce of 1 in two bytes.", recordBytes(37, raw("\xcc\x01"))},
		{"number-longest", "P-smallest", "A nonce of 1 in nine bytes.", recordBytes(37, raw("\xcf\x00\x00\x00\x00\x00\x00\x00\x01"))},
		{"array-long", "P-smallest", "A ping whose array has a length of two bytes.", []byte("\xdc\x00\x02\x25\x01")},
		{"text-long", "P-smallest", "A text of one byte with a length of one byte.", recordBytes(38, raw("\xd9\x01x"))},
		{"bytes-long", "P-smallest", "A payload of one byte with a length of two bytes.", recordBytes(33, 1, 1, raw("\xc5\x00\x01\x05"))},
		{"bytes-text", "P-form", "A payload that is a string.", recordBytes(33, 1, 1, "x")},
		{"nil", "P-form", "A nonce of nil.", recordBytes(37, raw("\xc0"))},
		{"float", "P-form", "A nonce that is a float.", recordBytes(37, raw("\xca\x3f\x80\x00\x00"))},
		{"bool-number", "P-form", "A welcome whose bool is a number.", recordBytes(48, 0, 1, sessionOne, 0, 1, 1, 0, 10, 1, 100)},
		{"tick-large", "P-range", "A tick of 33 bits.", recordBytes(52, uint64(1<<32))},
		{"kind-large", "P-range", "A command of kind 65536.", recordBytes(33, 1, 65536, []byte{})},
		{"role-large", "P-range", "A role of 3.", recordBytes(48, 0, 3, sessionOne, 0, 1, false, 0, 10, 1, 100)},
		{"delay-large", "P-range", "An input delay of 251 ticks.", recordBytes(48, 0, 1, sessionOne, 0, 1, false, 0, 10, 251, 100)},
		{"speed-zero", "P-welcome-range", "A speed of 0 percent.", recordBytes(48, 0, 1, sessionOne, 0, 1, false, 0, 10, 1, 0)},
		{"speed-small", "P-welcome-range", "A speed of 9 percent.", recordBytes(48, 0, 1, sessionOne, 0, 1, false, 0, 10, 1, 9)},
		{"speed-large", "P-welcome-range", "A speed of 1001 percent.", recordBytes(48, 0, 1, sessionOne, 0, 1, false, 0, 10, 1, 1001)},
		{"ack-every-zero", "P-welcome-range", "An ack every 0 ticks.", recordBytes(48, 0, 1, sessionOne, 0, 1, false, 0, 0, 1, 100)},
		{"seat-large", "P-range", "A seat of 250.", recordBytes(48, 250, 1, sessionOne, 0, 1, false, 0, 10, 1, 100)},
		{"packed-empty", "P-sync-packed", "A piece of no bytes.", recordBytes(63, 1, 0, 0, 2, []byte{})},
		{"packed-long", "P-sync-packed", "A piece of more than 64 KiB, before it is inflated.", recordBytes(63, 1, 0, 0, 100_000, make([]byte, 64<<10+1))},
		{"sync-position-zero", "P-range", "A state_sync whose next record is the header.", recordBytes(49, 0, 0, 0, 2, []byte{1})},
		{"accepted-sequence-zero", "P-range", "An answer to command 0.", recordBytes(50, 0, 1)},
		{"accepted-tick-zero", "P-range", "A command that runs in tick 0.", recordBytes(50, 1, 0)},
		{"held-order", "P-held", "The seats of a held are not ascending.", recordBytes(58, "x", []byte{1, 0}, 0, 0)},
		{"held-twice", "P-held", "A held has a seat twice.", recordBytes(58, "x", []byte{1, 1}, 0, 0)},
		{"held-seat-large", "P-held P-range", "A held for seat 250.", recordBytes(58, "x", []byte{250}, 0, 0)},
		{"ready-number", "P-form", "A ready that is a number.", recordBytes(42, 1)},
		{"desync-agreed-late", "P-desync", "A desync at tick 40 with the last agreement at tick 40.", recordBytes(53, 40, 1, 40, "")},
		{"view-delta-zero", "P-view-delta", "A view without a number.", recordBytes(61, 0, 0, 40, 0, 1, []byte{1})},
		{"view-delta-later-base", "P-view-delta", "A view as a difference to a later one.", recordBytes(61, 8, 9, 40, 0, 1, []byte{1})},
		{"view-delta-long", "P-view-delta", "A part beyond the end.", recordBytes(61, 9, 8, 40, 3, 4, []byte{1, 2})},
		{"view-sync-never", "P-view-sync", "A view every 0 ticks.", recordBytes(60, "spectator", 4, 0, 50000, []byte{})},
		{"view-ack-zero", "P-view-ack", "An ack of no view.", recordBytes(45, 0, 40)},
		{"resimulate-nothing", "P-resimulate", "A request to compute no tick again.", recordBytes(59, 40, 40, false)},
		{"resimulate-back", "P-resimulate", "A request that ends before it begins.", recordBytes(59, 40, 20, true)},
		{"resimulate-number", "P-form", "A request whose bool is a number.", recordBytes(59, 20, 40, 1)},
		{"resimulated-sections-many", "P-resimulated P-range", "A tick computed again with 257 sections.", recordBytes(43, 20, 0, 7, manyNumbers(257))},
		{"flight-request-zero", "P-flight P-range", "A request because of tick 0.", recordBytes(62, 0)},
		{"flight-large", "P-flight P-range", "A record of 64 KiB and a byte.", recordBytes(47, 40, 0, 64<<10+1, []byte{1})},
		{"flight-beyond", "P-flight P-chunk-form", "A chunk that ends behind its record.", recordBytes(47, 40, 4, 5, []byte{1, 2})},
		{"phases-many", "P-phases P-range", "65 phases.", recordBytes(44, 33, manyNames(65), manyNumbers(65))},
		{"phases-name-long", "P-phases P-range", "A phase with a name of 129 bytes.", recordBytes(44, 33, array{strings.Repeat("x", 129)}, array{7})},
		{"panicked-long", "P-panicked P-range", "A stack of 16,385 bytes.", recordBytes(46, 33, "Step", "oh", strings.Repeat("x", 16385))},
		{"phases-number", "P-form", "A phase whose name is a number.", recordBytes(44, 33, array{7}, array{7})},
		{"phases-uneven", "P-phases", "Two phases with one state hash.", recordBytes(44, 33, array{"move", "combat"}, array{7})},
		{"sections-many", "P-range", "A checksum with 257 sections.", recordBytes(34, 20, 7, manyNumbers(257))},
		{"sums-few", "P-count", "A self-test of four sums.", auth{sums: selfTests[:4]}.message()},
		{"text-not-utf8", "P-text", "Chat with a byte that is not UTF-8.", recordBytes(38, "x\xff")},
		{"text-surrogate", "P-text", "Chat with half of a surrogate pair.", recordBytes(38, "\xed\xa0\x80")},
		{"text-overlong", "P-text", "Chat with a slash in two bytes.", recordBytes(38, "\xc0\xaf")},
		{"chat-long", "P-text", "A line of chat of 1025 bytes.", recordBytes(38, strings.Repeat("x", 1025))},
		{"token-long", "P-text", "A token of 2049 bytes.", auth{token: strings.Repeat("t", 2049)}.message()},
		{"build-long", "P-text", "A build of 129 bytes.", auth{build: strings.Repeat("b", 129)}.message()},
		{"session-short", "P-session-form", "A session of 15 bytes.", auth{session: sessionOne[:15]}.message()},
		{"session-long", "P-session-form", "A session of 17 bytes.", auth{session: append([]byte{1}, sessionOne...)}.message()},
		{"session-zeros", "P-session-form", "A session of 16 zeros.", auth{session: make([]byte, 16)}.message()},
		{"chunk-beyond", "P-chunk-form", "A chunk that reaches beyond the total.", recordBytes(49, 1, 0, 3, 4, []byte{1, 2})},
		{"chunk-long", "P-chunk-form", "A chunk of 32769 bytes.", recordBytes(35, 20, 0, 40000, make([]byte, 32769))},
		{"total-large", "P-range", "A total of more than 256 MiB and 128 KiB.", recordBytes(49, 1, 0, 0, 256<<20+128<<10+1, []byte{1})},
		{"view-total-large", "P-range", "A difference of a view with more than 32 MiB and 64 KiB.", recordBytes(61, 1, 0, 0, 0, 32<<20+64<<10+1, []byte{1})},
	})
}

func manyNames(n int) array {
	a := array{}
	for range n {
		a = append(a, "move")
	}
	return a
}

func manyNumbers(n int) array {
	a := array{}
	for i := range n {
		a = append(a, i)
	}
	return a
}
