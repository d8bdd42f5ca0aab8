//go:build !js

package archive_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

// lower restarts an archive with limits at a time. It does nothing by itself.
func (r *rig) lower(t *testing.T, k archive.Keep, now time.Time) {
	t.Helper()
	r.o.Keep = k
	a, err := archive.Open(r.o)
	if err != nil {
		t.Fatal(err)
	}
	r.Archive = a
	r.later(t, now)
}

// later lets the archive do what is due at a time.
func (r *rig) later(t *testing.T, now time.Time) {
	t.Helper()
	if err := r.Tidy(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

// A limit that allows less waits an hour, over restarts, and says what it will delete. One that is raised before deletes nothing.
func TestLowerLimitsWait(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t, func(o *archive.Options) { o.Grace = 0 })
	all := fill(t, r, 5, 0, 0)
	r.Close()
	r.o.Log = slog.New(slog.NewTextHandler(&log, nil))
	now := time.Now().Truncate(time.Second)
	check := func(what string, want []string) {
		t.Helper()
		same(t, what, r.find(t, server.ArchiveQuery{}), want)
	}
	r.lower(t, archive.Keep{Replays: 1}, now)
	check("at once", all)
	if text := log.String(); !strings.Contains(text, "files=4") || !strings.Contains(text, "first=m0-00000001.ssr last=m3-00000004.ssr") {
		t.Errorf("the log does not say what will be deleted:\n%s", text)
	}
	due := now.Add(time.Hour)
	found, _, err := r.Find(t.Context(), server.ArchiveQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range found {
		if want := i > 0; f.Deletes.Equal(due) != want || f.Deletes.IsZero() == want {
			t.Errorf("%s: got the deletion at %v, want %v: %v", f.Name, f.Deletes, due, want)
		}
	}
	if f, err := r.Get(t.Context(), all[1]); err != nil || !f.Deletes.Equal(due) {
		t.Errorf("got the deletion at %v, %v, want %v", f.Deletes, err, due)
	}
	r.lower(t, archive.Keep{Replays: 1}, now.Add(40*time.Minute))
	check("after a restart", all)
	r.lower(t, archive.Keep{Replays: 5}, now.Add(50*time.Minute))
	r.later(t, now.Add(2*time.Hour))
	check("raised", all)
	now = now.Add(3 * time.Hour)
	r.lower(t, archive.Keep{Replays: 2}, now)
	r.lower(t, archive.Keep{Replays: 2}, now.Add(40*time.Minute))
	r.later(t, now.Add(59*time.Minute))
	check("just before", all)
	d, err := archive.Preview(r.o.Index, r.o.Keep, now.Add(59*time.Minute))
	if err != nil || d.Files != 3 || d.First != all[4] || d.Last != all[2] || !d.At.Equal(now.Add(time.Hour)) || d.SizeBytes == 0 {
		t.Errorf("got %+v, %v", d, err)
	}
	r.later(t, now.Add(time.Hour))
	check("then", all[:2])
	r.lower(t, archive.Keep{Replays: 3}, now.Add(2*time.Hour)) // and what comes beyond it goes at once
	put(t, r.live, "m5-00000006.ssr", matchOf(t, "00000006"), 5)
	put(t, r.live, "m6-00000007.ssr", matchOf(t, "00000007"), 6)
	for _, name := range []string{"m5-00000006.ssr", "m6-00000007.ssr"} {
		r.Add(filepath.Join(r.live, name))
		if err := r.MoveNext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.later(t, now.Add(2*time.Hour))
	check("within settled limits", []string{"m6-00000007.ssr", "m5-00000006.ssr", all[0]})
}

// The first limits of an archive that has files wait, too. Those of a new one do not.
func TestFirstLimitsWait(t *testing.T) {
	for _, first := range []archive.Keep{{}, {Replays: 1}} {
		r := newRig(t, func(o *archive.Options) { o.Grace = 0 })
		r.Close()
		if err := os.RemoveAll(r.o.Index); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		r.lower(t, first, now)
		var all []string
		for day := range 3 {
			all = append([]string{fmt.Sprintf("m%d-%08x.ssr", day, day+1)}, all...)
			put(t, r.live, all[0], matchOf(t, fmt.Sprintf("%08x", day+1)), day)
			r.Add(filepath.Join(r.live, all[0]))
			if err := r.MoveNext(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r.lower(t, archive.Keep{Replays: 1}, now.Add(time.Minute))
		want := all
		if first.Replays > 0 {
			want = all[:1]
		}
		same(t, "kept", r.find(t, server.ArchiveQuery{}), want)
		r.later(t, now.Add(time.Hour+time.Minute))
		same(t, "later", r.find(t, server.ArchiveQuery{}), all[:1])
	}
}
