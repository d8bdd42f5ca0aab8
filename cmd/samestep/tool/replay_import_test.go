//go:build !js

package tool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// importedAgain imports lines, exports the match, and imports the exported lines, which it returns.
func importedAgain(t *testing.T, lines string) string {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	samestep := func(args ...string) string {
		var out, errs bytes.Buffer
		if code := tooltest.Run(t.Context(), append([]string{"samestep", "replay"}, args...), &out, &errs); code != console.ExitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, &errs)
		}
		return out.String()
	}
	write := func(name, text string) {
		if err := os.WriteFile(path(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("in.jsonl", lines)
	samestep("import", path("in.jsonl"), path("in.ssr"))
	out := samestep("export", path("in.ssr"))
	write("out.jsonl", out)
	samestep("import", path("out.jsonl"), path("out.ssr"))
	a, errA := os.ReadFile(path("in.ssr"))
	b, errB := os.ReadFile(path("out.ssr"))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("imported again: another replay, %v, %v", errA, errB)
	}
	return out
}

// The examples of docs/spec/recordings.md are imported, and exported as they are, but with the commands of a tick by player.
func TestImportPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/spec/recordings.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?ms)^```jsonl\n(.*?)^```").FindAllStringSubmatch(string(page), -1)
	if len(examples) != 2 {
		t.Fatalf("docs/spec/recordings.md has %d examples, want 2", len(examples))
	}
	if got, want := importedAgain(t, examples[1][1]), examples[1][1]; got != want {
		t.Errorf("the recording is exported as:\n%s\nwant:\n%s", got, want)
	}
	const first, others = `{"t":0,"p":0,"s":1,"k":3,"d":"/w=="}` + "\n", `{"t":0,"p":2,"s":1,"k":12,"d":"AQI="}` + "\n"
	before, after, _ := strings.Cut(strings.Replace(examples[0][1], first, "", 1), others)
	want := before + `{"t":0,"order":"6ef05bae62951a5c"}` + "\n" + first + others + after
	if got := importedAgain(t, examples[0][1]); got != want {
		t.Errorf("the example is exported as:\n%s\nwant:\n%s", got, want)
	}
}

// Import takes and refuses the recordings of the conformance suite as it says.
func TestImportConformance(t *testing.T) {
	t.Parallel()
	const folder = "../../../testdata/conformance/"
	b, err := os.ReadFile(folder + "index.json")
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Cases []struct{ Kind, File, Verdict string }
	}
	if err := json.Unmarshal(b, &index); err != nil {
		t.Fatal(err)
	}
	wants := map[string]int{"ok": console.ExitOK, "torn": console.ExitOK, "invalid": console.ExitCorrupt, "unsupported": console.ExitUnsupported}
	seen := map[string]int{}
	for _, c := range index.Cases {
		if c.Kind != "recording" {
			continue
		}
		seen[c.Verdict]++
		var errs bytes.Buffer
		got := tooltest.Execute([]string{"replay", "import", folder + c.File, filepath.Join(t.TempDir(), "out.ssr")}, &bytes.Buffer{}, &errs)
		if got != wants[c.Verdict] || strings.Contains(errs.String(), "torn") != (c.Verdict == "torn") {
			t.Errorf("%s: got exit code %d and %q, want %s", c.File, got, errs.String(), c.Verdict)
		}
	}
	if seen["ok"] < 20 || seen["torn"] < 4 || seen["invalid"] < 50 || seen["unsupported"] < 2 {
		t.Errorf("got %v recordings", seen)
	}
}

// Many commands before tick 1, of 64 seats, are exported as they were imported. So are a title with every class of
// character, a fractional rate, and the longest notes.
func TestImportManyBeforeTick1(t *testing.T) {
	var in strings.Builder
	fmt.Fprintln(&in, `{"log":1,"title":"é\"\\","tick_rate_hz":0.125,"players":64}`)
	for p := range 64 {
		fmt.Fprintf(&in, `{"t":0,"p":%d,"note":"name","text":"%s"}`+"\n", p, strings.Repeat("n", 1024))
	}
	for p := range 64 {
		for s := range 128 {
			fmt.Fprintf(&in, `{"t":0,"p":%d,"s":%d,"k":%d,"d":"%s"}`+"\n", p, s*3+1, s, base64.StdEncoding.EncodeToString(make([]byte, s)))
		}
	}
	for p := range 64 {
		fmt.Fprintf(&in, `{"t":1,"p":%d,"sum":"%016x"}`+"\n", p, p/40)
	}
	fmt.Fprintln(&in, `{"t":16,"end":true}`)
	if got := importedAgain(t, in.String()); got != in.String() {
		t.Errorf("got %d lines in %d bytes, want %d in %d", strings.Count(got, "\n"), len(got), strings.Count(in.String(), "\n"), in.Len())
	}
}

// A tick with more commands than a frame can hold is rejected, and the error names the tick.
func TestImportFullTick(t *testing.T) {
	t.Parallel()
	lines := func(commands, size int) string {
		var in strings.Builder
		fmt.Fprintln(&in, `{"log":1,"title":"full","tick_rate_hz":10,"players":2}`)
		payload := base64.StdEncoding.EncodeToString(make([]byte, size))
		for s := range commands {
			fmt.Fprintf(&in, `{"t":4,"p":0,"s":%d,"k":1,"d":"%s"}`+"\n", s+1, payload)
		}
		fmt.Fprintln(&in, `{"t":9,"end":true}`)
		return in.String()
	}
	for _, c := range []struct {
		name           string
		commands, size int
		want           string // in the error; empty if it is accepted
	}{
		{"as many as there may be", 8192, 1, ""},
		{"one command more", 8193, 1, "tick 4: got 8193 commands with payloads of 8193 bytes, want at most 8192 and 4194304"},
		{"the longest payload", 1, 16380, ""},
		{"a byte more", 1, 16381, "tick 4: lockstep: kind 1: got a payload of 16385 bytes, want at most 16384"},
		{"4 MiB", 256, 16380, ""},
		{"more than 4 MiB", 480, 16380, "tick 4: got 257 commands with payloads of 4209660 bytes, want at most 8192 and 4194304"},
	} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.ssr")
		if err := os.WriteFile(in, []byte(lines(c.commands, c.size)), 0o666); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		code := tooltest.Execute([]string{"replay", "import", in, out}, &bytes.Buffer{}, &errs)
		if want := map[bool]int{true: console.ExitOK, false: console.ExitCorrupt}[c.want == ""]; code != want || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: got exit code %d and %q, want %d and %q", c.name, code, errs.String(), want, c.want)
		}
	}
}
