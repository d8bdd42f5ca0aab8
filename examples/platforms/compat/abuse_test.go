//go:build !js

package compat_test

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/seed-49bee653/samestep/lockstep/host"
)

// order returns a command message with fields of the command changed.
func order(changes ...any) []byte {
	command := mapOf("type", "MOVE", "sequence", 1, "targets", []any{8}, "x", 1)
	for key, value := range mapOf(changes...) {
		if command[key] = value; value == nil {
			delete(command, key)
		}
	}
	return packed("kind", "command", "command", command)
}

// repeated returns n times a message.
func repeated(n int, message ...[]byte) (all [][]byte) {
	for range n {
		all = append(all, message...)
	}
	return all
}

// Each abuse is refused with an error, or ends the connection. The others go on, and so does a client whose message was
// refused.
func TestAbuse(t *testing.T) {
	jump := func(targets ...any) []byte { return order("type", "JUMP", "targets", targets, "x", nil) }
	sum := func(tick, sum any) []byte { return packed("kind", "checksum", "tick", tick, "checksum", sum) }
	for _, row := range []struct {
		name     string
		messages [][]byte
		want     string // in an error; "" ends the connection
	}{
		{"a jump of a platform", [][]byte{jump(3)}, "got 3 for a jump"},
		{"a jump of the floor and a unit", [][]byte{jump(1, 8)}, "got 1 for a jump"},
		{"a jump of a player", [][]byte{jump(6)}, "got 6 for a jump"},
		{"a jump of nothing there is", [][]byte{jump(10)}, "got 10 for a jump"},
		{"a sequence of 64 bits", [][]byte{order("sequence", uint64(math.MaxUint64))}, "53 bits"},
		{"a sequence of 54 bits", [][]byte{order("sequence", uint64(1<<53))}, "53 bits"},
		{"a negative sequence", [][]byte{order("sequence", -1)}, "got sequence -1"},
		{"a sequence as text", [][]byte{order("sequence", "1")}, "want an integer"},
		{"a sequence with a hundred digits", [][]byte{order("sequence", strings.Repeat("9", 100))}, "want an integer"},
		{"a sequence that is not a number", [][]byte{order("sequence", math.NaN())}, "want an integer"},
		{"an infinite sequence", [][]byte{order("sequence", math.Inf(1))}, "want an integer"},
		{"a whole float as a sequence", [][]byte{order("sequence", 1.0)}, "want an integer"},
		{"no sequence", [][]byte{order("sequence", nil)}, "got sequence 0"},
		{"a repeated sequence", repeated(2, order("sequence", 1)), "want more than 1"},
		{"an earlier sequence", [][]byte{order("sequence", 5), order("sequence", 4)}, "want more than 5"},
		{"an x that is not a number", [][]byte{order("x", math.NaN())}, "want an integer"},
		{"an infinite x", [][]byte{order("x", math.Inf(-1))}, "want an integer"},
		{"no x", [][]byte{order("x", nil)}, "want an x"},
		{"a target of 64 bits", [][]byte{order("targets", []any{uint64(1 << 63)})}, "53 bits"},
		{"a target as text", [][]byte{order("targets", []any{"8"})}, "want an integer"},
		{"a negative target", [][]byte{order("targets", []any{-8})}, "got target -8"},
		{"a target that is not a number", [][]byte{order("targets", []any{math.NaN()})}, "want an integer"},
		{"no targets", [][]byte{order("targets", nil)}, "want targets"},
		{"an empty list of targets", [][]byte{order("targets", []any{})}, "want targets"},
		{"targets that are no list", [][]byte{order("targets", 8)}, "want a list"},
		{"too many targets", [][]byte{order("targets", make([]int, 257))}, "got 257 targets, want at most 256"},
		{"a megabyte of duplicate targets", [][]byte{order("targets", bytesOf(1<<20, 8))}, ""},
		{"another type of command", [][]byte{order("type", "FLY")}, `got a command of type "FLY"`},
		{"no command", [][]byte{packed("kind", "command")}, "want a command"},
		{"a command that is a text", [][]byte{packed("kind", "command", "command", "MOVE")}, "want a map"},
		{"a second auth", [][]byte{packed("kind", "auth", "token", tokenOf(1))}, "auth only once"},
		{"a checksum in capitals", [][]byte{sum(100, "0123ABCD")}, "eight lower-case"},
		{"a long checksum", [][]byte{sum(100, strings.Repeat("0", 9000))}, "eight lower-case"},
		{"a checksum of a negative tick", [][]byte{sum(-100, "01234567")}, "got tick -100"},
		{"a checksum of a tick beyond 64 bits", [][]byte{sum(math.MaxFloat64, "01234567")}, "want an integer"},
		{"not a map", [][]byte{{0x93, 1, 2, 3}}, "want a map"},
		{"no bytes", [][]byte{{}}, "ends early"},
		{"half a message", [][]byte{order()[:20]}, "ends early"},
		{"a map longer than the message", [][]byte{{0xdf, 0xff, 0xff, 0xff, 0xff}}, "ends early"},
		{"a list longer than the message", [][]byte{append(packed("kind", "command")[:1], 0xa1, 'k', 0xdd, 0xff, 0xff, 0xff, 0xff)}, "ends early"},
		{"a text longer than the message", [][]byte{{0x81, 0xdb, 0xff, 0xff, 0xff, 0xff}}, "ends early"},
		{"deep nesting", [][]byte{append([]byte{0x81, 0xa1, 'k'}, bytes.Repeat([]byte{0x91}, 10000)...)}, "nested too deeply"},
		{"a byte that begins no value", [][]byte{{0x81, 0xa1, 'k', 0xc1}}, "begins no value"},
		{"bytes after the message", [][]byte{append(packed("kind", "nothing"), 0)}, "bytes follow"},
		{"a text that is not UTF-8", [][]byte{{0x81, 0xa2, 0xff, 0xfe, 1}}, "want a text"},
		{"a key that is a number", [][]byte{{0x81, 1, 1}}, "want a text"},
		{"a flood of state_sync_request", repeated(20, packed("kind", "state_sync_request")), "too many state_sync_request"},
		{"a flood of state_sync_request that goes on", repeated(2000, packed("kind", "state_sync_request")), ""},
		{"a flood of checksums", repeated(2000, sum(100, "01234567")), ""},
		{"a flood of commands", repeated(2000, order("sequence", 1)), ""},
		{"a flood of unknown messages", repeated(2000, packed("kind", "nothing")), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, setup{})
				bad, honest := s.join(t, tokenOf(0)), s.join(t, tokenOf(1))
				go func() {
					for _, m := range row.messages {
						bad.write(m)
					}
				}()
				for bad.next < 60 && len(bad.errors) == 0 {
					if err := bad.read(t.Context()); err != nil {
						if row.want != "" {
							t.Fatalf("the connection ended: %v", err)
						}
						bad.ws.CloseNow()
						break
					}
				}
				switch {
				case row.want != "" && (len(bad.errors) == 0 || !strings.Contains(bad.errors[0], row.want)):
					t.Errorf("got errors %q, want %q", bad.errors, row.want)
				case row.want != "":
					bad.sequence = 10
					bad.move(t, -1, bad.unit())
					if bad.until(t, bad.next+20); bad.accepted[11] == 0 {
						t.Error("the next command was not accepted")
					}
				case bad.next >= 60 && len(bad.errors) == 0:
					t.Error("the connection is still open")
				}
				honest.move(t, 1, honest.unit())
				if honest.until(t, 150); honest.ran != 1 || len(honest.errors) > 0 {
					t.Errorf("of the honest client, %d commands ran, errors %q", honest.ran, honest.errors)
				}
				bad.ws.CloseNow()
				s.verify(t)
			})
		})
	}
}

// bytesOf returns a list of n equal numbers.
func bytesOf(n, v int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// Unknown kinds, keys and values of every type are passed over, and foreign units stay in the frame.
func TestUnknownIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, setup{})
		f := s.join(t, tokenOf(0))
		f.send(t, "kind", "hello", "a", 1.5, "b", []byte{1}, "c", nil, "d", true, "e", []any{1, mapOf("x", []any{"y", float32(1)})},
			"f", time.Unix(1, 0), "g", strings.Repeat("x", 300), "h", uint64(math.MaxUint64), "i", int64(-1<<40))
		f.move(t, 5, f.unit(), 9, int64(1<<40), f.unit())
		f.until(t, 30)
		if len(f.errors) > 0 || f.ran != 1 {
			t.Errorf("got errors %q, %d commands ran", f.errors, f.ran)
		}
		s.verify(t)
	})
}

// A client that does not read loses its connection, and the memory for it stays bounded.
func TestReaderThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, setup{})
		honest := s.join(t, tokenOf(1))
		stuck := s.connect(t)
		stuck.send(t, "kind", "auth", "token", tokenOf(0))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		honest.until(t, 60*30)
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
			t.Errorf("the heap has grown by %d bytes", grown)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for {
			if _, _, err := stuck.ws.Read(ctx); err != nil {
				if ctx.Err() != nil {
					t.Error("the connection is still open")
				}
				break
			}
		}
		s.do(t, func(h *host.Host) {
			if n := h.Now(); n < 60*30 {
				t.Errorf("the match is at tick %d, want it to go on", n)
			}
		})
		s.verify(t)
	})
}

// A connection that does not authenticate ends, and so does one that begins with something else.
func TestFirstMessage(t *testing.T) {
	for name, first := range map[string][]byte{
		"nothing": nil, "a command": order(), "no message": {0xc1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, setup{})
				f := s.connect(t)
				if first != nil {
					f.write(first)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := f.read(ctx); err == nil || ctx.Err() != nil {
					t.Errorf("got %v, want the end of the connection", err)
				}
				s.verify(t)
			})
		})
	}
}

// Connections of one address are limited, and places are free again.
func TestManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := setup{}
		x.options.MaxPerAddress = 3
		s := newStage(t, x)
		for range 3 {
			var all []*foreigner
			for range 3 {
				all = append(all, s.join(t, ""))
			}
			if _, err := s.tryDial(t); err == nil {
				t.Error("a fourth connection was accepted")
			}
			for _, f := range all {
				f.ws.CloseNow()
			}
			time.Sleep(time.Second)
		}
		s.verify(t)
	})
}

// The frames have the keys in the order of the wire, and the smallest form of each number.
func TestFormOfMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, setup{})
		f := s.join(t, tokenOf(0))
		f.write(order("sequence", 300, "x", -7, "targets", []any{9, 8, 8}))
		var frame, accepted []byte
		for frame == nil {
			_, b, err := f.ws.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(b, []byte("MOVE")) {
				frame = b
			} else if bytes.Contains(b, []byte("command_accepted")) {
				accepted = b
			}
		}
		var m map[string]any
		if err := msgpack.Unmarshal(frame, &m); err != nil {
			t.Fatal(err)
		}
		want := "\x83\xa4kind\xadcommand_frame\xa4tick" + string(rune(number(m["tick"]))) +
			"\xa8commands\x91\x85\xa4type\xa4MOVE\xa6issuer\x06\xa8sequence\xcd\x01\x2c\xa7targets\x93\x08\x08\x09\xa1x\xff"
		if string(frame) != want {
			t.Errorf("got frame\n%q, want\n%q", frame, want)
		}
		if want := "\x83\xa4kind\xb0command_accepted\xa8sequence\xcd\x01\x2c\xadassigned_tick" + string(rune(number(m["tick"]))); string(accepted) != want {
			t.Errorf("got\n%q, want\n%q", accepted, want)
		}
		if kind := f.ws.Subprotocol(); kind != "" {
			t.Errorf("got subprotocol %q, want none", kind)
		}
		s.verify(t)
	})
}

// tryDial opens a WebSocket, and closes it.
func (s *stage) tryDial(t *testing.T) (*websocket.Conn, error) {
	ws, _, err := websocket.Dial(t.Context(), s.url, &websocket.DialOptions{HTTPClient: s.http()})
	if err == nil {
		ws.CloseNow()
	}
	return ws, err
}
