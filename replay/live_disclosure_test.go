package replay_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// noted returns a match of 60 ticks whose log has notes after its first state or its first frame, and how many bytes it has
// without its end.
func noted(t *testing.T, notes [][]byte, afterFrame bool) (file []byte, open int) {
	t.Helper()
	_, plain, _ := recordMatch(t, 60, replay.WriterOptions{})
	var b bytes.Buffer
	w := replay.NewWriter(&b, replay.WriterOptions{})
	r := openReplay(t, plain)
	wanted := 2
	if afterFrame {
		wanted = 3
	}
	for n := 1; ; n++ {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil && rec.Kind == record.KindEnd {
			if err = w.Flush(); err == nil {
				open = b.Len()
			}
		}
		if err == nil {
			err = w.Append(r.Record())
		}
		for i := 0; n == wanted && err == nil && i < len(notes); i++ {
			err = w.Append(notes[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), open
}

func openReplay(t *testing.T, b []byte) *replay.Reader {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A reader of a file that grows shows what the log says, unless it is the operator's; and everything when the match is over.
func TestLiveDisclosure(t *testing.T) {
	views, late := disclosure.Policy{Views: true}.Event(), disclosure.Policy{Delay: 25}.Event()
	for name, c := range map[string]struct {
		notes      [][]byte
		afterFrame bool
		options    replay.LiveOptions
		records    bool          // it shows any, also the header
		tick       lockstep.Tick // that it shows last
		err        error
	}{
		"no server":                {nil, false, replay.LiveOptions{}, true, 60, nil},
		"open":                     {[][]byte{disclosure.Policy{}.Event()}, false, replay.LiveOptions{}, true, 60, nil},
		"a delay":                  {[][]byte{late}, false, replay.LiveOptions{}, true, 35, nil},
		"a delay after a frame":    {[][]byte{late}, true, replay.LiveOptions{}, true, 35, nil},
		"a longer delay":           {[][]byte{late}, false, replay.LiveOptions{Delay: 40}, true, 20, nil},
		"a shorter delay":          {[][]byte{late}, false, replay.LiveOptions{Delay: 5}, true, 35, nil},
		"a delay for its operator": {[][]byte{late}, false, replay.LiveOptions{Operator: true}, true, 60, nil},
		"views":                    {[][]byte{views}, false, replay.LiveOptions{}, false, 0, disclosure.ErrViews},
		"views for its operator":   {[][]byte{views}, false, replay.LiveOptions{Operator: true}, true, 60, nil},
		"other words":              {[][]byte{record.Event(record.System, record.EventDisclosure, "all")}, false, replay.LiveOptions{}, false, 0, disclosure.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			file, open := noted(t, c.notes, c.afterFrame)
			path := filepath.Join(t.TempDir(), "live.ssr")
			for _, part := range []struct {
				bytes []byte
				tick  lockstep.Tick
				err   error
			}{{file[:open], c.tick, c.err}, {file, 60, io.EOF}} {
				if err := os.WriteFile(path, part.bytes, 0o600); err != nil {
					t.Fatal(err)
				}
				live, err := replay.OpenLive(path, c.options)
				if err != nil {
					t.Fatal(err)
				}
				defer live.Close()
				g := &growing{t: t, live: live}
				shown, last, err := g.records()
				if part.err == io.EOF && errors.Is(c.err, disclosure.ErrMalformed) {
					part.tick, part.err = 0, c.err // also when it is over
				}
				if want := c.records || part.tick > 0; last != part.tick || !errors.Is(err, part.err) || (len(shown) > 0) != want {
					t.Errorf("%d of %d bytes: got %d bytes of records up to tick %d, %v, want tick %d, %v", len(part.bytes), len(file), len(shown), last, err, part.tick, part.err)
				}
			}
		})
	}
}
