//go:build !js

package console

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/words"
)

// Only a terminal gets a progress bar, however long the work takes.
func TestNoProgressElsewhere(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var buf bytes.Buffer
	for _, p := range []*Progress{NewProgress(file, 10, "ticks"), NewProgress(&buf, 10, "ticks"), NewProgress(words.NewCleaner(file), 10, "ticks")} {
		p.from = time.Now().Add(-time.Hour)
		p.Set(5)
		p.Done()
	}
	if info, err := file.Stat(); err != nil || info.Size() > 0 || buf.Len() > 0 {
		t.Errorf("wrote %d and %d bytes, %v", info.Size(), buf.Len(), err)
	}
}

// Control: a terminal gets a progress bar.
func TestProgress(t *testing.T) {
	var buf bytes.Buffer
	p := &Progress{w: &buf, unit: "ticks", max: 10, from: time.Now()}
	p.Set(1)
	if buf.Len() > 0 {
		t.Errorf("a bar in the first second: %q", buf.String())
	}
	p = &Progress{w: &buf, unit: "ticks", max: 10, from: time.Now().Add(-time.Hour)}
	p.Set(5)
	p.Done()
	if got := buf.String(); !strings.Contains(got, " 50% |████") || !strings.Contains(got, "| 5/10 ticks, 0/s [1h0m0s, 1h0m0s left]") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("no bar after a second, or it stays: %q", got)
	}
	buf.Reset()
	p.unit, p.drawn = "bytes", time.Time{}
	p.SetOf(3<<20, 0) // a size that nobody knows
	p.Set(4)          // too soon after the last one
	if got := buf.String(); strings.Count(got, "\r") != 1 || !strings.Contains(got, "100%") || !strings.Contains(got, "3.0 MiB/0 B") {
		t.Errorf("got %q", got)
	}
}

// Lines of progress and status fit the terminal: a longer one would wrap, and stay when the next one is drawn over it.
func TestFit(t *testing.T) {
	for in, want := range map[string]string{
		"12345678\n123\n": "12345\n123\n", "\r██████ 5/10\r\x1b[2K": "\r█████\r\x1b[2K", "\x1b[31m1234567\x1b[0m": "\x1b[31m12345\x1b[0m", "": "",
	} {
		if got := string(Fit([]byte(in), 5)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
