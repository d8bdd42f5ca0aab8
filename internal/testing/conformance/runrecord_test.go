package conformance

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// runRecord reads the records of a file of hexadecimal lines as the only batch of a replay.
// The verdict is that of the last record. The missing end of the match does not count.
func runRecord(text []byte) Result {
	lines, err := hexLines(text)
	if err != nil {
		return Result{Verdict: err.Error()}
	}
	var records [][]byte
	for _, l := range lines {
		records = append(records, l.bytes)
	}
	r, err := openFile(newFile().batch(records...).b)
	if err != nil {
		return Result{Verdict: err.Error()}
	}
	for i := range records {
		rec, err := r.Next()
		switch {
		case err != nil && i < len(records)-1:
			return Result{Verdict: fmt.Sprintf("record %d of %d: %v", i, len(records), err)}
		case err != nil:
			return Result{string(replay.ClassOf(err)), map[string]any{"tick": tickOf(err)}}
		case len(r.Record()) != len(records[i]):
			return Result{Verdict: fmt.Sprintf("record %d: got %d bytes, want %d", i, len(r.Record()), len(records[i]))}
		case i == len(records)-1:
			facts := recordFacts(rec)
			if _, err := r.Next(); !errors.Is(err, io.EOF) && replay.ClassOf(err) != replay.ClassTorn {
				return Result{Verdict: fmt.Sprintf("after the last record: %v", err)}
			}
			return Result{string(replay.ClassOK), facts}
		}
	}
	return Result{Verdict: "no records"}
}

// tickOf returns the last tick before damage.
func tickOf(err error) any {
	var damage *replay.DamageError
	if errors.As(err, &damage) {
		return damage.Tick
	}
	return err.Error()
}

// recordFacts returns the values of a record.
func recordFacts(r *record.Record) map[string]any {
	facts := map[string]any{"kind": int(r.Kind), "tick": r.Tick}
	switch r.Kind {
	case record.KindHeader:
		return headerFacts(r.Header)
	case record.KindKeyframe:
		last := []any{}
		for _, l := range r.Keyframe.Last {
			last = append(last, map[string]any{"player": l.Player, "sequence": l.Sequence})
		}
		facts["state_hash"], facts["last"], facts["state"] = checksum.FormatHash(r.Keyframe.Hash), last, hex.EncodeToString(r.Keyframe.State)
	case record.KindFrame:
		facts["commands"] = commandFacts(&r.Frame)
	case record.KindPanic:
		p := r.Panic
		facts["where"], facts["text"], facts["stack"], facts["panic"] = p.Where, p.Text, p.Stack, commandFacts(&p.Frame)
	case record.KindEmpty:
		facts["empty"] = r.Empty
	case record.KindChecksum:
		facts["state_hash"] = checksum.FormatHash(r.Hash)
	case record.KindMismatch:
		facts["state_hash"], facts["player"] = checksum.FormatHash(r.Hash), r.Player
	case record.KindEnd:
		facts["text"] = r.Text
		if r.ByRules {
			facts["result"] = hex.EncodeToString(r.Result)
		}
	case record.KindNote:
		facts["player"], facts["topic"], facts["text"] = r.Player, r.Topic, r.Text
	case record.KindEvent:
		facts["player"], facts["event"], facts["text"] = r.Player, r.Event, r.Text
	}
	return facts
}

func commandFacts(f *record.Frame) []any {
	commands := []any{}
	for i := range f.Commands {
		c := &f.Commands[i]
		commands = append(commands, map[string]any{"player": c.Player, "sequence": c.Sequence, "kind": c.Kind, "payload": hex.EncodeToString(c.Payload)})
	}
	return commands
}

func headerFacts(h *lockstep.Header) map[string]any {
	commands := []any{}
	for _, c := range h.Commands {
		commands = append(commands, map[string]any{"kind": c.Kind, "name": c.Name, "schema": hex.EncodeToString(c.Schema)})
	}
	s := h.Settings
	facts := map[string]any{
		"kind": 1, "protocol": h.Protocol, "engine": h.Engine, "game": h.Game, "build": h.Build, "match": h.Match.String(), "platform": h.Platform,
		"seed": strconv.FormatUint(s.Seed, 10), "players": s.Players, "tick_micros": s.TickMicros, "check_every": s.CheckEvery, "keyframe_every": s.KeyframeEvery,
		"config": hex.EncodeToString(h.Config), "config_schema": hex.EncodeToString(h.ConfigSchema), "state_schema": hex.EncodeToString(h.StateSchema),
		"commands": commands, "relay": s.Relay, "result_schema": hex.EncodeToString(h.ResultSchema),
	}
	return facts
}

// A hexLine is one line of a file of hexadecimal lines.
type hexLine struct {
	label string
	bytes []byte
}

// hexLines reads lines of hexadecimal digits. A line may begin with a label and a colon. It
// skips empty lines and lines that begin with #.
func hexLines(text []byte) ([]hexLine, error) {
	var lines []hexLine
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		label, digits, ok := strings.Cut(line, ":")
		if !ok {
			label, digits = "", line
		}
		b, err := hex.DecodeString(strings.TrimSpace(digits))
		if err != nil {
			return nil, fmt.Errorf("conformance: line %q: %w", line, err)
		}
		lines = append(lines, hexLine{label, b})
	}
	return lines, nil
}
