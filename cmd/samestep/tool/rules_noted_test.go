//go:build !js

package tool

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// noted returns a log of the match in a file, as a server writes it that begins the match by the module with a sum: with a note after
// the first records. If it is open, it ends before the end of the match.
func (d *rulesFolder) noted(name, sum string, open bool) []byte {
	d.Helper()
	f, err := replay.Open(d.path(name))
	if err != nil {
		d.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		d.Fatal(err)
	}
	var out bytes.Buffer
	w := replay.NewWriter(&out, replay.WriterOptions{})
	put := func(b []byte) {
		if err := w.Append(b); err != nil {
			d.Fatal(err)
		}
	}
	n := 0
	for rec, err := range r.All() {
		if err != nil {
			d.Fatal(err)
		}
		if open && rec.Kind == record.KindEnd {
			break
		}
		put(slices.Clone(r.Record()))
		if n++; n == 2 && sum != "" {
			put(record.Event(record.System, record.EventRules, sum))
		}
	}
	if err := w.Close(); err != nil {
		d.Fatal(err)
	}
	return out.Bytes()
}

// A match goes on under the module with which it was begun, and under no other of the same build. Without it, the server says what to do.
func TestResumesByNotedRules(t *testing.T) {
	d := newRulesFolder(t)
	right := tooltest.SumOf(d.right)
	log := d.noted("plain.ssr", right, true)
	d.write("matches/live/cup-"+matchOf(t, log)+".ssr", log)
	d.write("both/a.wasm", d.wrong)
	d.write("both/z.wasm", d.right)
	d.write("store/a.wasm", d.wrong)
	check := "serve --check-config --resume --dir matches --set web=false --game pebbles "
	for args, ok := range map[string]bool{
		"--rules right.wasm":                    true,
		"--rules wrong.wasm --rules right.wasm": true,
		"--rules wrong.wasm --rules both":       true,
		"--rules wrong.wasm":                    false,
		"--rules wrong.wasm --rules store":      false,
	} {
		if ok {
			d.run(console.ExitOK, check+args, "ok\n")
			continue
		}
		if out := d.run(console.ExitIdentity, check+args, "match cup cannot be resumed", right, "--rules FILE"); strings.Contains(out, "\nok\n") {
			t.Error(out)
		}
	}
	old := d.noted("plain.ssr", "", true) // of a server that wrote no note
	d.write("matches/live/cup-"+matchOf(t, log)+".ssr", old)
	d.run(console.ExitOK, check+"--rules wrong.wasm", "ok\n")
	d.run(console.ExitIdentity, "serve --check-config --resume --dir matches --set web=false --rules both", "match cup cannot be resumed", "2 modules", "choose one with --rules FILE")
}

// Every verb finds the rules of a file by what its log says, also of one that is open, and keeps it.
func TestNotedRules(t *testing.T) {
	d := newRulesFolder(t)
	d.write("open.ssr", d.noted("plain.ssr", tooltest.SumOf(d.wrong), true))
	d.write("ended.ssr", d.noted("plain.ssr", tooltest.SumOf(d.wrong), false))
	d.run(console.ExitOK, "replay seal ended.ssr sealed.ssr")
	d.write("store/a.wasm", d.right)
	for _, file := range []string{"ended.ssr", "sealed.ssr"} {
		d.run(console.ExitOK, "replay info "+file, tooltest.SumOf(d.wrong)+", which is not in the file")
		d.run(console.ExitIdentity, "replay verify --rules store "+file, tooltest.SumOf(d.wrong), "rules add --dir store FILE")
	}
	d.run(console.ExitOK, "replay recover open.ssr recovered.ssr")
	d.run(console.ExitIdentity, "replay verify --rules store recovered.ssr", tooltest.SumOf(d.wrong))
	d.write("store/z.wasm", d.wrong)
	for _, file := range []string{"ended.ssr", "sealed.ssr"} {
		d.run(console.ExitDesync, "replay verify --rules store "+file, "DESYNC")
	}
	d.run(console.ExitOK, "replay attach --with-rules right.wasm --reference ended.ssr attached.ssr") // what is attached counts
	d.run(console.ExitOK, "replay verify --rules store attached.ssr", "true: every checksum")
}

// A file that names no module is judged by none of several that fit.
func TestSeveralModulesFit(t *testing.T) {
	d := newRulesFolder(t)
	d.write("store/a.wasm", d.right)
	d.write("store/b.wasm", d.wrong)
	d.write("same/a.wasm", d.right)
	d.write("same/b.wasm", d.right)
	want := []string{"plain.ssr", "2 modules", "choose one with --rules FILE", "a.wasm: build 1, SHA-256 " + tooltest.SumOf(d.right), "b.wasm: build 1, SHA-256 " + tooltest.SumOf(d.wrong)}
	for _, verb := range []string{"replay verify", "replay dump --tick 5"} {
		d.run(console.ExitIdentity, verb+" --rules store plain.ssr", want...)
	}
	d.run(console.ExitOK, "replay verify --rules same plain.ssr", "true: every checksum")
	d.run(console.ExitOK, "replay verify --rules store --rules right.wasm plain.ssr", "true: every checksum") // as advised
	d.run(console.ExitOK, "replay verify --rules store right-named.ssr", "true: every checksum")
	d.run(console.ExitOK, "rules add right.wasm")
	d.run(console.ExitOK, "replay verify plain.ssr", "true: every checksum")
	d.run(console.ExitOK, "rules add wrong.wasm")
	d.run(console.ExitIdentity, "replay verify plain.ssr", "2 modules", tooltest.SumOf(d.wrong))
}

// matchOf returns the beginning of the match's id, as names of files have it.
func matchOf(t *testing.T, log []byte) string {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(log), int64(len(log)))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	return rec.Header.Match.String()[:8]
}

// A demo by a module names it in its replay.
func TestDemoNamesRules(t *testing.T) {
	d := newRulesFolder(t)
	if err := os.Mkdir(d.path("out"), 0o777); err != nil {
		t.Fatal(err)
	}
	d.run(console.ExitOK, "demo --rules right.wasm --game pebbles --seconds 2 --dir out")
	entries, _ := os.ReadDir(d.path("out"))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".ssr") {
			d.run(console.ExitOK, "replay info out/"+e.Name(), tooltest.SumOf(d.right))
			return
		}
	}
	t.Errorf("got %v, want a replay", entries)
}

// A match begins in the state of one whose file names a module under that module only.
func TestBeginsFromNotedRules(t *testing.T) {
	d := newRulesFolder(t)
	d.write("noted.ssr", d.noted("plain.ssr", tooltest.SumOf(d.right), false))
	from := "serve --check-config --set web=false --dir= --game pebbles --from "
	for _, file := range []string{"right-named.ssr", "noted.ssr"} {
		d.run(console.ExitOK, from+file+"@300 --rules wrong.wasm --rules right.wasm", "ok\n")
		d.run(console.ExitIdentity, from+file+"@300 --rules wrong.wasm", tooltest.SumOf(d.right), "--rules FILE")
	}
}
