//go:build !js

package tool

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// openMatch returns the file of a match that is sent as views, and whose server still writes it.
func openMatch(t *testing.T) string {
	t.Helper()
	f, err := replay.Open("../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := replay.NewWriter(&b, replay.WriterOptions{})
	for n := 1; ; n++ {
		rec, err := r.Next()
		if err == io.EOF || err == nil && rec.Kind == record.KindEnd {
			break
		}
		if err == nil {
			err = w.Append(r.Record())
		}
		if n == 2 && err == nil {
			err = w.Append(disclosure.Policy{Views: true}.Event())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "duel.ssr")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What follows a file shows nothing of a running match that is sent as views, and says what its owner can do. That works.
func TestFollowObeysTheLog(t *testing.T) {
	t.Parallel()
	path := openMatch(t)
	for _, verb := range [][]string{{"follow"}, {"verify", "--follow"}, {"watch", "--once"}} {
		args := append(append([]string{"replay"}, verb...), path)
		if verb[0] != "watch" {
			args = append(args, "--idle", "1ms")
		}
		var out, errs bytes.Buffer
		code := tooltest.Execute(args, &out, &errs)
		advice := regexp.MustCompile(`; (--delay 0) shows the file to its owner`).FindStringSubmatch(errs.String())
		if code == console.ExitOK || out.Len() > 0 || advice == nil {
			t.Errorf("%q: exits with %d: %s%s", args, code, out.String(), errs.String())
			continue
		}
		out.Reset()
		errs.Reset()
		tooltest.Execute(append(args, strings.Fields(advice[1])...), &out, &errs)
		if verb[0] != "verify" && !strings.Contains(out.String(), "tick") || strings.Contains(errs.String(), "views") {
			t.Errorf("%q with %s: %.200s%s", args, advice[1], out.String(), errs.String())
		}
	}
}
