package testgame

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// EmptyTick is the text of a tick without commands.
const EmptyTick = "a tick without commands"

// ErrDisk is the error of a log that fails.
var ErrDisk = errors.New("disk full")

// RecordText prints a record.
func RecordText(tb testing.TB, g *lockstep.Game, r *record.Record) string {
	switch r.Kind {
	case record.KindHeader:
		return fmt.Sprintf("header: %s %s, match %v, %d seats", r.Header.Game, r.Header.Build, r.Header.Match, r.Header.Settings.Players)
	case record.KindKeyframe:
		return fmt.Sprintf("keyframe of tick %d, sequences %v", r.Tick, r.Keyframe.Last)
	case record.KindFrame:
		return FrameText(tb, g, &r.Frame)
	case record.KindEmpty:
		if r.Empty != 1 {
			tb.Fatalf("the coordinator wrote a run of %d ticks", r.Empty)
		}
		return EmptyTick
	case record.KindChecksum:
		return fmt.Sprintf("checksum of tick %d", r.Tick)
	case record.KindMismatch:
		return fmt.Sprintf("mismatch of player %d at tick %d", r.Player, r.Tick)
	case record.KindNote:
		return fmt.Sprintf("note of player %d, %s: %q", r.Player, r.Topic, r.Text)
	case record.KindEvent:
		return fmt.Sprintf("event of player %d, %s: %q", r.Player, r.Event, r.Text)
	case record.KindPanic:
		return fmt.Sprintf("panic in %s: %s: %s", r.Panic.Where, r.Panic.Text, FrameText(tb, g, &r.Panic.Frame))
	case record.KindEnd:
		return fmt.Sprintf("end: %s", r.Text)
	}
	return fmt.Sprintf("record %d", r.Kind)
}

// FrameText prints a frame as "tick 3: 1#2 earn{Coins:5}".
func FrameText(tb testing.TB, g *lockstep.Game, f *lockstep.Frame) string {
	var commands []string
	for _, c := range f.Commands {
		if err := g.NewPayloads().Decode(&c); err != nil {
			tb.Fatal(err)
		}
		who := fmt.Sprintf("%d#%d", c.Player, c.Sequence)
		if c.Player == lockstep.System {
			who = fmt.Sprintf("system#%d", c.Sequence)
		}
		v := reflect.ValueOf(c.Value).Elem()
		name := v.Type().Name()
		if c.Player != lockstep.System {
			name = strings.ToLower(name) // as it is registered
		}
		commands = append(commands, fmt.Sprintf("%s %s%+v", who, name, v))
	}
	return fmt.Sprintf("tick %d: %s", f.Tick, strings.Join(commands, ", "))
}
