package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Only a terminal gets a progress bar, however long the work takes.
func TestNoProgressElsewhere(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var buf bytes.Buffer
	for _, p := range []*progress{newProgress(file, 10, "ticks"), newProgress(&buf, 10, "ticks"), newProgress(&cleaner{w: file}, 10, "ticks")} {
		p.from = time.Now().Add(-time.Hour)
		p.set(5)
		p.done()
	}
	if info, err := file.Stat(); err != nil || info.Size() > 0 || buf.Len() > 0 {
		t.Errorf("wrote %d and %d bytes, %v", info.Size(), buf.Len(), err)
	}
}

// Control: a terminal gets a progress bar.
func TestProgress(t *testing.T) {
	var buf bytes.Buffer
	p := &progress{w: &buf, unit: "ticks", max: 10, from: time.Now()}
	p.set(1)
	if buf.Len() > 0 {
		t.Errorf("a bar in the first second: %q", buf.String())
	}
	p = &progress{w: &buf, unit: "ticks", max: 10, from: time.Now().Add(-time.Hour)}
	p.set(5)
	p.done()
	if !bytes.Contains(buf.Bytes(), []byte("5/10")) {
		t.Errorf("no bar after a second: %q", buf.String())
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 ticks", 1: "1 tick", 1234567: "1,234,567 ticks"} {
		if got := count(n, "tick"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for d, want := range map[time.Duration]string{1234 * time.Microsecond: "1.23 ms", 12345 * time.Millisecond: "12.3 s", 1234567 * time.Millisecond: "20m35s"} {
		if got := seconds(d); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for s, want := range map[float64]string{0: "0.0 s", 20: "20.0 s", 1927: "32m7s", 3600: "1h0m0s"} {
		if got := matchTime(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
