//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// The exported file has everything in the replay, ordered by time, matches its schemas, and is readable with the
// format's own library.
func TestExportMCAP(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/replays/*.ssr")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d replays, %v", len(files), err)
	}
	mismatches, notes := 0, 0
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := replay.ReadInfo(replayOf(t, b))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := replays.ExportMCAP(&out, []replays.McapMatch{{Reader: replayOf(t, b), Name: path, Bundle: false, Games: games.Games()}}, replays.McapFields{}); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		read := readMCAP(t, out.Bytes(), info.Header.Settings.TickMicros)
		got := fmt.Sprint(read.counts["/commands"], read.inRates, read.counts["/checksums"], read.counts["/mismatches"])
		if want := fmt.Sprint(info.Commands, info.Commands, info.Checksums, info.Mismatches); got != want {
			t.Errorf("%s: got commands, in rates, checksums and mismatches %s, want %s", path, got, want)
		}
		if read.inChecks != info.Mismatches {
			t.Errorf("%s: the checksums count %d mismatches, want %d", path, read.inChecks, info.Mismatches)
		}
		if seconds := int(info.Ticks) / int(info.Header.Settings.TickRate()); read.counts["/rates"] < min(seconds, 3) || read.counts["/rates"] > seconds+1 {
			t.Errorf("%s: %d rates in %d s", path, read.counts["/rates"], seconds)
		}
		if read.match["match"] != info.Header.Match.String() || read.match["ticks"] != fmt.Sprint(info.Ticks) {
			t.Errorf("%s: the match is %v", path, read.match)
		}
		mismatches += read.counts["/mismatches"]
		notes += read.counts["/log"]
	}
	if mismatches == 0 || notes < 20 {
		t.Errorf("%d mismatches and %d lines of log are in the replays", mismatches, notes)
	}
}

func replayOf(t *testing.T, b []byte) *replay.Reader {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// An mcapRead is the contents of a file.
type mcapRead struct {
	counts   map[string]int // messages by topic
	inRates  int            // commands that the rates sum up
	inChecks int            // mismatches that the checksums count
	match    map[string]string
	values   map[string][]mcapPoint // by topic below /state
}

// An mcapPoint is a value of a field.
type mcapPoint struct {
	tick  lockstep.Tick
	value float64
	text  string
}

// readMCAP reads a file and checks every message against its schema and tick.
func readMCAP(t *testing.T, b []byte, micros uint32) *mcapRead {
	t.Helper()
	r, err := mcap.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	read := &mcapRead{counts: make(map[string]int), values: make(map[string][]mcapPoint)}
	messages, err := r.Messages(mcap.UsingIndex(true), mcap.InOrder(mcap.LogTimeOrder))
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	for {
		schema, channel, m, err := messages.NextInto(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var form struct {
			Properties map[string]struct{ Type string }
		}
		var value map[string]any
		if err := errors.Join(json.Unmarshal(schema.Data, &form), json.Unmarshal(m.Data, &value)); err != nil {
			t.Fatal(err)
		}
		read.counts[channel.Topic]++
		if len(form.Properties) != len(value) {
			t.Fatalf("%s: got %s, want the fields of %s", channel.Topic, m.Data, schema.Data)
		}
		for name, p := range form.Properties {
			if got := jsonType(value[name]); got != p.Type && (got != "integer" || p.Type != "number") {
				t.Fatalf("%s: %s is %s in %s, want %s", channel.Topic, name, got, m.Data, p.Type)
			}
		}
		tick, ok := value["tick"].(float64)
		if want := uint64(tick) * 1000 * uint64(micros); ok && channel.Topic != "/mismatches" && m.LogTime != want || m.LogTime < last {
			t.Fatalf("%s: got time %d after %d for %s", channel.Topic, m.LogTime, last, m.Data)
		}
		last = m.LogTime
		if topic, ok := strings.CutPrefix(channel.Topic, "/state/"); ok {
			number, _ := value["value"].(float64)
			read.values[topic] = append(read.values[topic], mcapPoint{lockstep.Tick(tick), number, value["text"].(string)})
		}
		if channel.Topic == "/rates" {
			read.inRates += int(value["commands"].(float64))
		}
		if channel.Topic == "/checksums" {
			read.inChecks += int(value["mismatches"].(float64))
		}
	}
	info, err := r.Info()
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range info.MetadataIndexes {
		meta, err := r.GetMetadata(at.Offset)
		if err != nil {
			t.Fatal(err)
		}
		if meta.Name == "match" || meta.Name == "match/b" {
			read.match = meta.Metadata
		}
	}
	return read
}

// jsonType returns the name of a value's type in a JSON schema.
func jsonType(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("%T", v)
}

// Any number of ticks without commands costs nothing, and every second with commands is counted.
func TestExportMCAPEmptyTicks(t *testing.T) {
	var out bytes.Buffer
	file, err := replays.NewMCAPFile(&out)
	if err != nil {
		t.Fatal(err)
	}
	x := &replays.McapExporter{File: file, Header: &lockstep.Header{Settings: lockstep.DefaultSettings(2)}}
	x.WriteChannels()
	for _, tick := range []lockstep.Tick{1, 5, 1 << 30, 1<<30 + 100, lockstep.MaxTick} {
		x.Tick = tick
		x.Rate()
	}
	if file.Err != nil {
		t.Fatal(file.Err)
	}
	if n := file.Sequence[x.Channels[replays.OnRates]]; n < 5 || n > 12 {
		t.Errorf("wrote %d rates", n)
	}
}
