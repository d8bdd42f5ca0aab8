//go:build !js

package compat_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/coder/websocket"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A foreigner is a client of the other wire. It reads MessagePack with another library, and simulates by the rules of the
// game; the client in Python shares nothing at all.
type foreigner struct {
	ws       *websocket.Conn
	sim      *lockstep.Simulation
	player   int64 // its ID
	interval int64
	next     int64 // the tick of the next frame
	sequence int64

	accepted map[int64]int64 // ticks by sequence
	errors   []string
	reports  []map[string]any
	syncs    int
	ran      int // its own commands in frames
	wrong    int // receipts after the frame, or for another tick
	alter    int64
}

// connect opens a connection without a word.
func (s *stage) connect(t *testing.T) *foreigner {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), s.url, &websocket.DialOptions{HTTPClient: s.http()})
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	t.Cleanup(func() { ws.CloseNow() })
	return &foreigner{ws: ws, accepted: make(map[int64]int64)}
}

// http returns a client that connects to the server.
func (s *stage) http() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: s.dial, DisableKeepAlives: true}}
}

// join connects and authenticates, and reads the state.
func (s *stage) join(t *testing.T, token string) *foreigner {
	t.Helper()
	f := s.connect(t)
	f.send(t, "kind", "auth", "token", token)
	for f.syncs == 0 {
		if err := f.read(t.Context()); err != nil {
			t.Fatalf("no state: %v", err)
		}
	}
	return f
}

// packed returns a map with keys and values in the order given.
func packed(pairs ...any) []byte {
	b, err := msgpack.Marshal(mapOf(pairs...))
	if err != nil {
		panic(err)
	}
	return b
}

func mapOf(pairs ...any) map[string]any {
	m := make(map[string]any)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func (f *foreigner) send(t *testing.T, pairs ...any) {
	t.Helper()
	f.write(packed(pairs...))
}

// write sends a message. That the server has closed the connection, the next read says.
func (f *foreigner) write(b []byte) { f.ws.Write(context.Background(), websocket.MessageBinary, b) }

// unit returns the ID of the client's unit.
func (f *foreigner) unit() int64 {
	return f.player + int64(lockstep.World[platforms.World](f.sim).Players)
}

func (f *foreigner) move(t *testing.T, x int64, targets ...any) {
	f.sequence++
	f.send(t, "kind", "command", "command", mapOf("type", "MOVE", "sequence", f.sequence, "targets", targets, "x", x, "issuer", 99))
}

func (f *foreigner) jump(t *testing.T, targets ...any) {
	f.sequence++
	f.send(t, "kind", "command", "command", mapOf("type", "JUMP", "sequence", f.sequence, "targets", targets))
}

// read takes one message of the server, and answers with a checksum where one is due.
func (f *foreigner) read(ctx context.Context) error {
	kind, b, err := f.ws.Read(ctx)
	if err != nil {
		return err
	}
	if kind != websocket.MessageBinary {
		return errors.New("got a text message")
	}
	var m map[string]any
	if err := msgpack.Unmarshal(b, &m); err != nil {
		return err
	}
	switch m["kind"] {
	case "state_sync":
		return f.adopt(m)
	case "command_frame":
		return f.frame(m)
	case "command_accepted":
		f.accepted[number(m["sequence"])] = number(m["assigned_tick"])
	case "error":
		f.errors = append(f.errors, m["text"].(string))
	case "desync_report":
		f.reports = append(f.reports, m)
	default:
		return fmt.Errorf("got a message %v", m)
	}
	return nil
}

// number returns an integer, in whichever type the library has chosen.
func number(v any) int64 {
	switch v := v.(type) {
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case int64:
		return v
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		return int64(v)
	}
	panic(fmt.Sprintf("got %T", v))
}

func list(v any) []uint64 {
	var all []uint64
	for _, each := range v.([]any) {
		all = append(all, uint64(number(each)))
	}
	return all
}

// adopt begins with a state.
func (f *foreigner) adopt(m map[string]any) error {
	f.syncs++
	f.player, f.interval, f.next = number(m["player_id"]), number(m["checksum_interval_ticks"]), number(m["current_tick"])
	settings := lockstep.DefaultSettings(uint8(number(m["game_config"].(map[string]any)["player_count"])))
	header, err := game.NewHeader(lockstep.MatchID{}, settings, &usual)
	if err != nil {
		return err
	}
	if f.sim, err = game.NewSimulation(header); err != nil {
		return err
	}
	w := lockstep.World[platforms.World](f.sim)
	first := int(w.UnitID(0))
	for _, e := range m["snapshot"].(map[string]any)["entities"].([]any) {
		entity := e.(map[string]any)
		if entity["OwnedBy"] == nil {
			continue
		}
		part := func(name, field string) int64 { return number(entity[name].(map[string]any)[field]) }
		u := &w.Units[int(number(entity["id"]))-first]
		u.X, u.Y, u.VY = part("Position", "x"), part("Position", "y"), int32(part("RigidBody", "vy"))
		u.MoveX, u.MoveY = int8(part("Movement", "x")), int8(part("Movement", "y"))
		u.Inside = nil
		for _, id := range list(entity["TriggerOverlap"].(map[string]any)["inside"]) {
			u.Inside = append(u.Inside, uint32(id))
		}
	}
	return f.sim.Restore(lockstep.Tick(f.next), f.sim.AppendState(nil))
}

// frame runs a tick.
func (f *foreigner) frame(m map[string]any) error {
	tick := number(m["tick"])
	if tick != f.next {
		return fmt.Errorf("got frame %d, want %d", tick, f.next)
	}
	f.next++
	frame := lockstep.Frame{Tick: lockstep.Tick(tick + 1)}
	first := int64(lockstep.World[platforms.World](f.sim).PlayerID(0))
	for i, c := range m["commands"].([]any) {
		command := c.(map[string]any)
		var value any = &platforms.Jump{Number: uint64(number(command["sequence"])), Targets: list(command["targets"])}
		if command["type"] == "MOVE" {
			value = &platforms.Move{Number: uint64(number(command["sequence"])), Targets: list(command["targets"]), X: int8(number(command["x"]))}
		}
		if number(command["issuer"]) == f.player {
			f.ran++
			if at, ok := f.accepted[number(command["sequence"])]; !ok || at != tick {
				f.wrong++
			}
		}
		kind, payload, err := game.NewPayloads().Encode(value)
		if err != nil {
			return err
		}
		frame.Commands = append(frame.Commands, lockstep.Command{
			Tick: frame.Tick, Player: lockstep.Player(number(command["issuer"]) - first), Sequence: lockstep.Sequence(i + 1), Kind: kind, Payload: payload,
		})
	}
	if err := f.sim.Step(&frame); err != nil {
		return err
	}
	if tick > 0 && tick%f.interval == 0 {
		w := lockstep.World[platforms.World](f.sim)
		if f.alter == tick {
			w.Units[0].X++
		}
		f.write(packed("kind", "checksum", "tick", tick, "checksum", w.Checksum(&usual).String()))
	}
	return nil
}

// until reads to a tick.
func (f *foreigner) until(t *testing.T, tick int64) {
	t.Helper()
	for f.next < tick {
		if err := f.read(t.Context()); err != nil {
			t.Fatalf("at tick %d: %v", f.next, err)
		}
	}
}
