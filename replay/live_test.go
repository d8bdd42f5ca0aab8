package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A growing is a file to which a match is written bit by bit.
type growing struct {
	t    *testing.T
	path string
	file *os.File
	live *replay.LiveReader
}

func newGrowing(t *testing.T, o replay.LiveOptions) *growing {
	o.Operator = true
	t.Helper()
	g := &growing{t: t, path: filepath.Join(t.TempDir(), "live.ssr")}
	var err error
	if g.file, err = os.Create(g.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.file.Close() })
	if g.live, err = replay.OpenLive(g.path, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.live.Close() })
	return g
}

func (g *growing) write(b []byte) {
	g.t.Helper()
	if _, err := g.file.Write(b); err != nil {
		g.t.Fatal(err)
	}
}

// records returns the bytes of all records that are available now.
func (g *growing) records() (all []byte, last lockstep.Tick, err error) {
	for {
		rec, err := g.live.Try()
		if rec == nil || err != nil {
			return all, last, err
		}
		all = append(all, g.live.Record()...)
		if rec.Kind == record.KindFrame || rec.Kind == record.KindEmpty {
			last = rec.Tick
		}
	}
}

// A live file gives the records that the players are sent, whichever byte was written last: the reader waits for the
// rest of a torn end.
func TestLiveByteByByte(t *testing.T) {
	_, file, _ := recordMatch(t, 60, replay.WriterOptions{FlushTicks: 5})
	for name, b := range map[string][]byte{"open": file, "sealed": sealed(t, file, replay.WriterOptions{SegmentTicks: 20})} {
		var want []byte
		r := open(t, b)
		for {
			if _, err := r.Next(); err != nil {
				break
			}
			want = append(want, r.Record()...)
		}
		g := newGrowing(t, replay.LiveOptions{})
		var got []byte
		torn := 0
		for i := range b {
			g.write(b[i : i+1])
			records, _, err := g.records()
			got = append(got, records...)
			if err != nil && (i < len(b)-1 && name == "open" || err != io.EOF) {
				t.Fatalf("%s: after %d of %d bytes: %v", name, i+1, len(b), err)
			}
			if len(records) == 0 {
				torn++
			}
			if !bytes.HasPrefix(want, got) {
				t.Fatalf("%s: after %d bytes: other records", name, i+1)
			}
		}
		if !bytes.Equal(got, want) || torn < len(b)*9/10 {
			t.Errorf("%s: got %d bytes of records, want %d; nothing new after %d of %d bytes", name, len(got), len(want), torn, len(b))
		}
		if _, err := g.live.Next(t.Context()); err != io.EOF {
			t.Errorf("%s: after the end: got %v", name, err)
		}
	}
}

// With a delay of N ticks, a tick is given once the file has N later ones. All are given once the match is over.
func TestLiveDelay(t *testing.T) {
	for _, o := range []replay.LiveOptions{{Delay: 7}, {DelayTime: 2 * time.Second}, {Delay: 1000}} {
		game, h := newDots(t, lockstep.DefaultSettings(2))
		f := newGrowing(t, o)
		delay := o.Delay + lockstep.Tick(o.DelayTime/(50*time.Millisecond))
		w := replay.NewWriter(f.file, replay.WriterOptions{FlushTicks: 1, Durability: replay.SyncNone})
		c, err := coordinator.New(game, h, w, coordinator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		last, ticks := lockstep.Tick(0), 0
		for range 150 {
			if _, err := c.Tick(); err != nil {
				t.Fatal(err)
			}
			_, tick, err := f.records()
			if err != nil {
				t.Fatal(err)
			}
			if last = max(last, tick); last+delay > c.Now() && last > 0 || c.Now() >= delay && last != c.Now()-delay {
				t.Fatalf("delay %d: given tick %d of %d", delay, last, c.Now())
			}
			if tick > 0 {
				ticks++
			}
		}
		if want := max(150-int(delay), 0); ticks != want {
			t.Errorf("delay %d: %d ticks were given, want %d", delay, ticks, want)
		}
		finish(t, c, w, "over")
		if _, tick, err := f.records(); tick != 150 || err != io.EOF {
			t.Errorf("delay %d: at the end tick %d, %v", delay, tick, err)
		}
	}
}

// A live reader reports a file that is cut, replaced or damaged while it follows it. It accepts a file that is sealed
// in place at the end of the match.
func TestLiveReplaced(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{FlushTicks: 5})
	half := len(file) / 2
	for _, row := range []struct {
		name   string
		change func(g *growing) error
		want   error
	}{
		{"cut", func(g *growing) error { return os.Truncate(g.path, int64(half-10)) }, replay.ErrReplaced},
		{"replaced", func(g *growing) error {
			os.WriteFile(g.path+"2", file, 0o666)
			return os.Rename(g.path+"2", g.path)
		}, replay.ErrReplaced},
		{"removed", func(g *growing) error { return os.Remove(g.path) }, replay.ErrReplaced},
		{"cut and longer again", func(g *growing) error {
			os.Truncate(g.path, 0)
			_, other, _ := recordMatch(t, 300, replay.WriterOptions{FlushTicks: 3})
			_, err := g.file.WriteAt(other, 0)
			return err
		}, replay.ErrCorrupt},
		{"sealed", func(g *growing) error {
			g.write(file[half:])
			return replay.SealFile(t.Context(), g.path, replay.WriterOptions{SegmentTicks: 20})
		}, io.EOF},
	} {
		g := newGrowing(t, replay.LiveOptions{})
		g.write(file[:half])
		if _, tick, err := g.records(); err != nil || tick < 20 {
			t.Fatalf("%s: tick %d, %v", row.name, tick, err)
		}
		if err := row.change(g); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		_, _, err := g.records()
		var damage *replay.DamageError
		if !errors.Is(err, row.want) || err != io.EOF && (!errors.As(err, &damage) || damage.Offset == 0) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
}

// Next waits until its context ends or for Idle.
func TestLiveWaits(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	over, cancel := context.WithCancel(t.Context())
	waits := 0
	if _, err := newGrowing(t, replay.LiveOptions{Poll: time.Hour, Waiting: func() { waits++; cancel() }}).live.Next(over); !errors.Is(err, context.Canceled) || waits != 1 {
		t.Errorf("got %v and %d waits", err, waits)
	}
	g := newGrowing(t, replay.LiveOptions{Poll: time.Microsecond, Idle: time.Microsecond})
	if _, err := g.live.Next(t.Context()); !errors.Is(err, replay.ErrIdle) {
		t.Errorf("got %v", err)
	}
	g.write(file) // it can go on afterwards
	if rec, err := g.live.Next(t.Context()); err != nil || rec.Kind != record.KindHeader {
		t.Errorf("got %v", err)
	}
	if _, err := replay.OpenLive(g.path+"x", replay.LiveOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// Verifying a match while it is played gives the same verdict as verifying it afterwards.
func TestVerifyLive(t *testing.T) {
	game, file, _ := recordMatch(t, 205, replay.WriterOptions{})
	for name, b := range map[string][]byte{
		"true":           file,
		"false checksum": change(t, file, func(r *record.Record) { r.Hash += b2i(r.Kind == record.KindChecksum && r.Tick == 70) }),
		"damaged":        slices.Concat(file[:len(file)/2], []byte{9}, file[len(file)/2:]),
	} {
		for _, keepGoing := range []bool{false, true} {
			want, wantErr := replay.Verify(open(t, b), game, replay.VerifyOptions{Workers: 1, KeepGoing: keepGoing})
			g := newGrowing(t, replay.LiveOptions{Poll: time.Microsecond})
			go func() {
				for c := range slices.Chunk(b, 100) {
					g.file.Write(c)
				}
			}()
			got, err := replay.VerifyLive(t.Context(), g.live, game, replay.VerifyOptions{KeepGoing: keepGoing})
			if fmt.Sprint(err) != fmt.Sprint(wantErr) && name != "damaged" || (err == nil) != (wantErr == nil) || fmt.Sprintf("%+v", short(got)) != fmt.Sprintf("%+v", short(want)) {
				t.Errorf("%s: got %+v, %v\nwant %+v, %v", name, got, err, want, wantErr)
			}
		}
	}
	g := newGrowing(t, replay.LiveOptions{Poll: time.Microsecond})
	g.write(file)
	if _, err := replay.VerifyLive(t.Context(), g.live, game, replay.VerifyOptions{MaxTicks: 100}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("more ticks than allowed: got %v", err)
	}
}

// This match is already over; a match in play is followed in the same way.
func ExampleLiveReader() {
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		fmt.Println(err)
	}
	defer os.RemoveAll(dir)
	_, file := exampleFile()
	path := filepath.Join(dir, "match.ssr")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		fmt.Println(err)
	}
	var live *replay.LiveReader
	live, err = replay.OpenLive(path, replay.LiveOptions{DelayTime: 30 * time.Second})
	if err != nil {
		fmt.Println(err)
	}
	defer live.Close()
	for {
		rec, err := live.Next(context.Background())
		if err != nil {
			fmt.Println(err)
			break
		}
		if rec.Kind == record.KindEnd {
			fmt.Printf("over after %d ticks: %s\n", rec.Tick, rec.Text)
		}
	}
	// Output:
	// over after 100 ticks: time is up
	// EOF
}

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
