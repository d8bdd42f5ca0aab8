//go:build !js

package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A doctor says which transport a player would get, and what keeps it from a better one.
func TestDoctor(t *testing.T) {
	t.Parallel()
	hole, err := net.ListenPacket("udp", "127.0.0.1:0") // which nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer hole.Close()
	empty := httptest.NewServer(nil)
	defer empty.Close()
	const patient = "3s" // for a busy machine
	for _, row := range []struct {
		name   string
		time   string   // to wait for an answer; patient by default
		flags  []string // of the server
		path   string
		code   int
		by     string
		failed string // the check that fails
		want   string
	}{
		{name: "datagrams pass", path: "/matches/match-1", by: "datagrams", want: "50 packets lost"},
		{name: "the URL of a server", by: "datagrams", want: "match-1: skirmish"},
		{name: "a server without them", flags: []string{"--set", "datagrams=off"}, path: "/matches/match-1", by: "websocket", failed: "datagrams", want: "serve --set datagrams"},
		{name: "a firewall", time: "1s", flags: []string{"--set", "datagrams-public=" + hole.LocalAddr().String()}, path: "/matches/match-1", by: "websocket", failed: "datagrams", want: "Allow UDP to " + hole.LocalAddr().String()},
		{name: "another match", path: "/matches/other", code: console.ExitError, by: "none", failed: "match", want: "no match of this name"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := tooltest.Serve(t, append(row.flags, "--dir", "", "--config", `{"Units":100}`)...)
			examined(t, cmp.Or(row.time, patient), s.URL+row.path, row.code, row.by, row.failed, row.want)
		})
	}
	examined(t, patient, empty.URL, console.ExitError, "none", "http", "404")
	gone := httptest.NewServer(nil)
	gone.Close()
	examined(t, patient, gone.URL, console.ExitError, "none", "http", "port open for TCP")
	examined(t, patient, "ws://name.invalid/matches/m/play", console.ExitError, "none", "name", "DNS")
	var out bytes.Buffer
	if got := tooltest.Run(t.Context(), []string{"samestep", "doctor", "nowhere"}, &out, &out); got != console.ExitUsage || !strings.Contains(out.String(), "want one such as") {
		t.Errorf("got exit code %d and %q", got, &out)
	}
}

// examined runs the verb as text and as JSON.
func examined(t *testing.T, patience, url string, code int, by, failed, want string) {
	t.Helper()
	args := []string{"samestep", "doctor", "--timeout", patience, url}
	var out, errs bytes.Buffer
	got := tooltest.Run(t.Context(), append(args, "--json"), &out, &errs)
	var f struct {
		Playable  bool
		Transport string
		Checks    []struct {
			Name string
			OK   bool
		}
	}
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		t.Fatal(err, &errs)
	}
	if got != code || f.Transport != by || f.Playable != (code == console.ExitOK) {
		t.Errorf("%s: got exit code %d and %+v, want %d and %s", url, got, f, code, by)
	}
	for _, c := range f.Checks {
		if c.OK == (c.Name == failed) {
			t.Errorf("%s: got %+v, want only a failure of %q", url, c, failed)
		}
	}
	out.Reset()
	tooltest.Run(t.Context(), args, &out, &errs)
	if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, want) {
		t.Errorf("%s: got %q, want %q", url, text, want)
	}
}
