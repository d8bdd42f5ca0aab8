//go:build !js

package replays

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/parts"
	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// watch shows the contents of a file.
func TestWatchFile(t *testing.T) {
	files, err := filepath.Glob("../../../../../testdata/replays/*.ssr")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d replays, %v", len(files), err)
	}
	for _, path := range files {
		f, err := newFileSource(t.Context(), path, replay.LiveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		<-f.done
		r, err := f.look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		info := infoOf(t, path)
		players := 0
		for _, p := range info.Players {
			if p.Player != lockstep.System {
				players += p.Commands
				if got := f.seats[p.Player].Commands; got != p.Commands {
					t.Errorf("%s: player %d: got %d commands, want %d", path, p.Player, got, p.Commands)
				}
			}
		}
		got := fmt.Sprint(f.tick, f.totals.Commands, f.totals.Checks, f.totals.Mismatches, f.totals.Keyframes, int64(f.totals.SizeBytes), r.Over, len(r.Rows))
		want := fmt.Sprint(info.Ticks, players, info.Checksums, info.Mismatches, len(info.Keyframes), info.RecordBytes, true, info.Header.Settings.Players)
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
		if !strings.HasPrefix(r.Line, fmt.Sprintf("tick %d ", info.Ticks)) || r.Facts[2].Wrong != (info.Mismatches > 0) {
			t.Errorf("%s: %q, %+v", path, r.Line, r.Facts)
		}
		if b, err := json.Marshal(r.Values); err != nil || !bytes.Contains(b, fmt.Appendf(nil, `"tick":%d,`, info.Ticks)) {
			t.Errorf("%s: %s, %v", path, b, err)
		}
	}
}

func infoOf(t *testing.T, path string) (info *replay.Info) {
	t.Helper()
	if err := gameset.WithReplay(path, func(f *replay.File) (err error) {
		info, err = f.Info()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return info
}

// A fakeServer serves one match and counts the polls.
type fakeServer struct {
	status server.Status
	late   string
	gone   bool
	looks  int
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/metrics":
		fmt.Fprint(w, f.late)
	case f.gone:
		http.Error(w, "no such match", http.StatusNotFound)
	case r.URL.Path == "/matches/duel":
		f.looks++
		json.NewEncoder(w).Encode(f.status)
	case r.URL.Path == "/matches":
		f.looks++
		json.NewEncoder(w).Encode([]server.Status{f.status})
	default:
		http.NotFound(w, r)
	}
}

const lateThen = `# HELP samestep_lateness_seconds How late matches did what was due.
samestep_lateness_seconds_bucket{le="0.0001"} 10
samestep_lateness_seconds_bucket{le="0.001"} 20
samestep_lateness_seconds_bucket{le="+Inf"} 20
samestep_lateness_seconds_sum 0.004
samestep_lateness_seconds_count 20
samestep_matches 1
`

const lateNow = `samestep_lateness_seconds_bucket{le="0.0001"} 60
samestep_lateness_seconds_bucket{le="0.001"} 120
samestep_lateness_seconds_bucket{le="+Inf"} 120
samestep_lateness_seconds_sum 0.054
samestep_lateness_seconds_count 120
`

// watch shows the server's matches and the changes since the last poll.
func TestWatchServer(t *testing.T) {
	f := &fakeServer{late: lateThen}
	f.status = server.Status{Name: "duel", Match: "1", Tick: 100, Settings: lockstep.DefaultSettings(2), SlowestRTT: 42 * lockstep.Millisecond}
	f.status.Stats.Players, f.status.Stats.Spectators, f.status.Stats.Commands = 2, 3, 50
	web := httptest.NewServer(f)
	defer web.Close()
	for _, address := range []string{web.URL, web.URL + "/matches/duel"} {
		s, err := newServerSource(address, "")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := s.look(t.Context())
		if err != nil || !strings.HasPrefix(r.Line, "duel tick 100  2 players  3 spectators  0.0 commands/s") || r.Over {
			t.Fatalf("%s: %+v, %v", address, r, err)
		}
		s.at = time.Now().Add(-10 * time.Second)
		before := f.status
		f.status.Tick, f.status.Held, f.late = 300, "the disk is full", lateNow
		f.status.Stats.Commands, f.status.Stats.Reports, f.status.Stats.Desyncs = 150, 7, 1
		if r, err = s.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		row := strings.Join(r.Rows[0], "|")
		if row != "duel|300|15 s|2|3|7|1|0|42 ms|held: the disk is full|█" || !r.Facts[2].Wrong {
			t.Errorf("%s: %s, %+v", address, row, r.Facts)
		}
		if m := s.seen["duel"]; m.now < 8 || m.now > 10 {
			t.Errorf("%s: %.2f commands a second", address, m.now)
		}
		if !strings.Contains(r.Line, "late by 0.5 ms on average, 99 % at most 1 ms  the disk is full") {
			t.Errorf("%s: %q", address, r.Line)
		}
		f.gone = true
		if r, err = s.look(t.Context()); s.one && (err != nil || !r.Over || !strings.Contains(r.Line, "has removed it")) || !s.one && err == nil {
			t.Errorf("%s: %+v, %v", address, r, err)
		}
		f.status, f.late, f.gone = before, lateThen, false
	}
	web.Close()
	s, err := newServerSource(web.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.look(t.Context()); !errors.Is(err, parts.ErrUnseen) {
		t.Errorf("no server: got %v", err)
	}
	for _, address := range []string{"http://", "http://a/b", "http://a/matches/b/play"} {
		if _, err := newServerSource(address, ""); !console.IsUsage(err) {
			t.Errorf("%s: got %v", address, err)
		}
	}
}

// Without the token of an admin, watch shows what a server tells everybody, and no zeros for the rest.
func TestWatchWithoutToken(t *testing.T) {
	const told = `{"name":"duel","match":"1","tick":100,"settings":{"seed":"0","players":2,"tick_rate":20,"check_every":20,"keyframe_every":0},"stats":{"tick":100,"players":2,"spectators":3,"max_lag":4,"desyncs":"0"%s}}`
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		more := ""
		if r.Header.Get("Authorization") == "Bearer of-an-admin" {
			more = `,"commands":"50","reports":"7"`
		}
		fmt.Fprintf(w, told, more)
	}))
	defer web.Close()
	for token, want := range map[string]string{"": "duel tick 100  2 players  3 spectators  0 desyncs  lag 4", "of-an-admin": "duel tick 100  2 players  3 spectators  0.0 commands/s  7 reports  0 desyncs  lag 4"} {
		s, err := newServerSource(web.URL+"/matches/duel", token)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := s.look(t.Context())
		if err != nil || r.Line != want {
			t.Errorf("%q: got %+v, %v, want %s", token, r, err, want)
			continue
		}
		b, err := json.Marshal(r.Values)
		if has := bytes.Contains(b, []byte("reports")) && bytes.Contains(b, []byte(`"commands":"50"`)); err != nil || has != (token != "") {
			t.Errorf("%q: got %s, %v", token, b, err)
		}
		if got := r.Facts[1].Value == "want the token of an admin"; got != (token == "") {
			t.Errorf("%q: got %+v", token, r.Facts)
		}
	}
}

// Answers of a foreign server are errors, and do not control the terminal.
func TestWatchHostileServer(t *testing.T) {
	v := server.Status{Name: "a\x1b[31m\nb", Ended: "\u009b2J\xff", Settings: lockstep.Settings{}}
	f := &fakeServer{status: v}
	web := httptest.NewServer(f)
	defer web.Close()
	s, err := newServerSource(web.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{r.Line, fmt.Sprint(r.Title, r.Facts, r.Rows)} {
		if at := script.Control.FindString(text); at != "" || !strings.Contains(text, `a\u001b[31m b`) {
			t.Errorf("%q in %q", at, text)
		}
	}
	text := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }))
	defer text.Close()
	if s, err = newServerSource(text.URL, ""); err == nil {
		_, err = s.look(t.Context())
	}
	if !errors.Is(err, parts.ErrUnseen) {
		t.Errorf("got %v", err)
	}
}

func TestSpark(t *testing.T) {
	var values trend
	for i := range watchHistory + 5 {
		values.push(float64(i % 9))
	}
	if got := values.spark(); len([]rune(got)) != watchHistory || !strings.HasSuffix(got, "_▂▃▄▅▆▇██") {
		t.Errorf("got %q", got)
	}
	if got := (trend{0, 0, 0.001}).spark(); got != "__█" {
		t.Errorf("got %q", got)
	}
}

// The times of a server have no exponent, which "1e+02 ms" would be.
func TestLatenessHasNoExponent(t *testing.T) {
	for _, row := range []struct {
		lateness watchLateness
		want     string
	}{
		{watchLateness{Advances: 9, Mean: 0.1, Most: 2.5}, "100 ms on average, 99 % at most 2500 ms"},
		{watchLateness{Advances: 9, Mean: 0.00012, Most: 0.0995}, "0.12 ms on average, 99 % at most 100 ms"},
		{watchLateness{}, "unknown"},
	} {
		if got := row.lateness.String(); got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
}

// An endless list of matches with long names does not fill the memory of watch.
func TestWatchEndlessList(t *testing.T) {
	t.Parallel()
	sent := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		page := "[" + strings.Repeat(`{"name":"`+strings.Repeat("x", 10_000)+`"},`, 99) + `{"name":"last"}]`
		sent += len(page)
		io.WriteString(w, page)
	}))
	defer web.Close()
	s, err := newServerSource(web.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.look(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("got %.200v, want that the answer is too long", err)
	}
	if sent > maxAnswer+2<<20 {
		t.Errorf("%d bytes were sent, want hardly more than %d", sent, maxAnswer)
	}
}

// Metrics that are not numbers end neither watch nor its JSON.
func TestWatchWildMetrics(t *testing.T) {
	var late lateness
	text := ""
	for _, v := range []string{"NaN", "+Inf", "-Inf", "1e999"} {
		text += fmt.Sprintf("%s_sum %s\n%s_count %s\n%s_bucket{le=\"%s\"} 1\n", lateMetric, v, lateMetric, v, lateMetric, v)
	}
	text += fmt.Sprintf("%s_bucket{le=\"0.5\"} 1\n%s_bucket{le=\"+Inf\"} 100\n%s_count 100\n", lateMetric, lateMetric, lateMetric)
	if err := late.read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if err := console.WriteJSON(io.Discard, late.since(&lateness{})); err != nil {
		t.Error(err)
	}
}
