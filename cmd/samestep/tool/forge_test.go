//go:build !js

package tool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// forge IN OUT CHANGE [N] writes a changed copy of a replay. The changes of records come with valid checks, as only
// somebody who means it would make them:
//
//	checksum N   the checksum of tick N is another
//	command N    the first order to attack, from tick N on, aims elsewhere
//	payload N    the first command of a player from tick N on has a payload of no kind
//	kind N       the same has a kind that the header does not name
//	build, game, engine   the header names another
//	field        the header's schema of the state names a field otherwise
//	seat         the first command of a player is one of player 9
//	joined       the first who joins is player 77
//	state-bytes  the first state is too short
//	hostile      every text has control characters
//	mismatch N    player 1 has another checksum of tick N
//	open         there is no end record
//	suspended    there is none, as the server suspended the match
//	long N       there are N runs of empty ticks more, as long as runs can be
//	state N      the recorder had another state from tick N on
//	referee N    the same, and the players reported the right one
//	player N     player 1 had another state from tick N on
//
//	began N      OUT is the bundle IN, of a player who was sent the state of tick N and never agreed
//
// The others spoil the file:
//
//	cut N        only the first N bytes are there; from the end if N is negative
//	flip N       a bit of byte N is flipped; from the end if N is negative
//	text N       it is N bytes of text
//	replace A B  each A in it is B
//	tail N       N bytes of text follow the whole file
//	version, flags   the format's are others
//	append       OUT, which is a beginning of IN, gets the rest
func forge(args []string) error {
	if len(args) < 3 {
		return errors.New("usage: forge IN OUT CHANGE [N]")
	}
	in, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	f := &forger{change: args[2]}
	if f.change == "replace" && len(args) == 5 {
		return os.WriteFile(args[1], bytes.ReplaceAll(in, []byte(args[3]), []byte(args[4])), 0o666)
	}
	if len(args) > 3 {
		if f.n, err = strconv.Atoi(args[3]); err != nil {
			return err
		}
	}
	var out []byte
	switch f.change {
	case "cut":
		if f.n < 0 {
			f.n += len(in)
		}
		out = in[:f.n]
	case "flip":
		if f.n < 0 {
			f.n += len(in)
		}
		in[f.n] ^= 16
		out = in
	case "tail":
		out = append(in, bytes.Repeat([]byte("t"), f.n)...)
	case "version":
		in[8]++
		out = in
	case "flags":
		in[12]++
		out = in
	case "began":
		if out, err = f.began(in); err != nil {
			return err
		}
	case "append":
		return appendRest(args[1], in)
	case "text":
		out = bytes.Repeat([]byte("t"), f.n)
	default:
		if out, err = f.records(in); err != nil {
			return err
		}
	}
	return os.WriteFile(args[1], out, 0o666)
}

// appendRest appends the missing bytes of whole to a file.
func appendRest(name string, whole []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(whole[info.Size():])
	}
	return err
}

// A forger changes the records of a replay.
type forger struct {
	change string
	n      int
	done   bool
	enc    record.Encoder
	out    *replay.Writer
	hurt   *lockstep.Follower // of a match with a fault
}

// records returns the changed replay.
func (f *forger) records(in []byte) ([]byte, error) {
	r, err := replay.NewReader(bytes.NewReader(in), int64(len(in)))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	f.out = replay.NewWriter(&out, replay.WriterOptions{})
	if err := replay.Play(r, nil, f.record); err != nil {
		return nil, err
	}
	if !f.done {
		return nil, fmt.Errorf("nothing to change: %s %d", f.change, f.n)
	}
	err = f.out.Close()
	return out.Bytes(), err
}

const steering = "\x1b[31m\x1b]0;x\a\r\x7f\u009b2J"

func (f *forger) record(r *record.Record) error {
	switch f.change {
	case "state", "referee", "player":
		return f.mistaken(r)
	case "checksum":
		if r.Kind == record.KindChecksum && int(r.Tick) == f.n {
			r.Hash++
			f.done = true
		}
	case "command":
		if r.Kind == record.KindFrame && int(r.Tick) >= f.n && !f.done {
			if err := f.command(r.Frame.Commands); err != nil {
				return err
			}
		}
	case "seat", "joined":
		if r.Kind == record.KindFrame && !f.done {
			f.seat(r.Frame.Commands)
		}
	case "state-bytes":
		if r.Kind == record.KindKeyframe && !f.done {
			r.Keyframe.State, f.done = r.Keyframe.State[1:], true
		}
	case "payload", "kind":
		if r.Kind == record.KindFrame && int(r.Tick) >= f.n && !f.done && r.Frame.Commands[0].Player != lockstep.System {
			if c := &r.Frame.Commands[0]; f.change == "kind" {
				c.Kind = 999
			} else {
				c.Payload = []byte{0xc1}
			}
			f.done = true
		}
	case "mismatch":
		if r.Kind == record.KindChecksum && int(r.Tick) == f.n {
			f.done = true
			if err := f.out.Append(f.enc.Record(r)); err != nil {
				return err
			}
			return f.out.Append(f.enc.Mismatch(r.Tick, 1, 7))
		}
	case "open", "suspended":
		if r.Kind == record.KindEnd {
			f.done = true
			if f.change == "suspended" {
				return f.out.Append(f.enc.Event(lockstep.System, record.EventSuspended, "after tick 200"))
			}
			return nil
		}
	case "long":
		for range f.n {
			if r.Kind == record.KindEnd {
				if err := f.out.Append(f.enc.Empty(record.MaxEmptyRun)); err != nil {
					return err
				}
				f.done = true
			}
		}
	case "hostile":
		r.Text += steering
		r.Topic += steering
	}
	if r.Kind == record.KindHeader {
		f.header(r.Header)
	}
	return f.out.Append(f.enc.Record(r))
}

func (f *forger) header(h *lockstep.Header) {
	switch f.change {
	case "build":
		h.Build = "other"
	case "game":
		h.Game = "chess"
	case "engine":
		h.Engine = "samestep/99"
	case "field":
		h.StateSchema = bytes.Replace(h.StateSchema, []byte("Health"), []byte("Wealth"), 1)
	case "hostile":
		h.Game, h.Build, h.Platform, h.Engine = h.Game+steering, h.Build+steering, h.Platform+steering, h.Engine+steering
		h.Commands[0].Name += steering
	default:
		return
	}
	f.done = true
}

// seat gives a command to a player without a seat, or makes it about one.
func (f *forger) seat(commands []lockstep.Command) {
	for i := len(commands) - 1; i >= 0 && !f.done; i-- {
		switch c := &commands[i]; {
		case f.change == "joined" && c.Player == lockstep.System && c.Kind == 1:
			c.Payload, f.done = []byte{77}, true
		case f.change == "seat" && c.Player != lockstep.System:
			c.Player, f.done = 9, true
		}
	}
}

// command changes the first order to attack.
func (f *forger) command(commands []lockstep.Command) error {
	payloads := games[0].NewPayloads()
	for i := range commands {
		c := &commands[i]
		if err := payloads.Decode(c); err != nil {
			return err
		}
		attack, ok := c.Value.(*skirmish.AttackMove)
		if !ok {
			continue
		}
		attack.To.X, attack.To.Y = 0, 0
		_, payload, err := payloads.Encode(attack)
		c.Payload, f.done = payload, true
		return err
	}
	return nil
}
