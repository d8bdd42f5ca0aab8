package replay

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// emptyTick is the record of one tick without commands. A Writer joins them.
const emptyTick = "\x92\x04\x01"

// Cut copies the remaining records of r up to a tick to w, with an end that says so, and closes w. It copies a shorter match whole, and with
// [WholeMatch] any: so an open file becomes a sealed one, see [WriterOptions.SegmentTicks].
func Cut(w *Writer, r *Reader, tick lockstep.Tick) error {
	more, err := upTo(r, tick, w)
	switch {
	case err != nil:
		return err
	case more:
		return end(w, fmt.Sprintf("cut after tick %d", tick))
	}
	return w.Close()
}

// upTo gives the records of a match up to a tick to log, with the beginning of a run of empty ticks, and reports whether it goes on.
func upTo(r *Reader, tick lockstep.Tick, log lockstep.Log) (more bool, err error) {
	began := false
	for rec, err := range r.All() {
		switch {
		case err != nil:
			return false, err
		case rec.Kind == record.KindKeyframe && !began && rec.Tick > tick:
			return false, fmt.Errorf("replay: cut after tick %d of a match that begins at tick %d", tick, rec.Tick)
		case rec.Ticks() > 0 && rec.Tick > tick:
			for range tick - (rec.Tick - rec.Ticks()) {
				if err := log.Append([]byte(emptyTick)); err != nil {
					return true, err
				}
			}
			return true, nil
		}
		began = began || rec.Kind == record.KindKeyframe
		if err := log.Append(r.Record()); err != nil {
			return false, err
		}
	}
	return false, nil
}

// SealFile replaces the open file of a match that is over by its sealed form, after comparing their [HashContent]. At any
// moment, also after a crash, one of the two has the name and is whole. When ctx ends, the open file stays.
func SealFile(ctx context.Context, path string, o WriterOptions) error {
	open, err := files.Open(path)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer open.Close()
	sealed, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer os.Remove(sealed.Name()) // unless it was renamed
	defer sealed.Close()
	return sealOver(ctx, path, open, sealed, o, Replace)
}

// sealOver writes the sealed form of an open file, closes both files, and replaces the open one by the sealed one.
func sealOver(ctx context.Context, path string, open, sealed *os.File, o WriterOptions, replace func(file, path string) error) error {
	info, err := open.Stat()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if err := sealInto(ctx, sealed, open, info.Size(), o); err != nil {
		return err
	}
	if err := sealed.Chmod(info.Mode().Perm()); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	// Windows neither renames an open file nor replaces one.
	if err := errors.Join(sealed.Close(), open.Close()); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return replace(sealed.Name(), path)
}

func sealInto(ctx context.Context, sealed, open *os.File, size int64, o WriterOptions) error {
	r, err := NewReader(open, size)
	if err != nil {
		return err
	}
	w := NewWriter(struct {
		io.Writer
		syncFile
	}{&files.Interruptible{File: sealed, Context: ctx}, sealed}, o)
	if err := Cut(w, r, WholeMatch); err != nil {
		return err
	}
	want, _, err := HashContent(r, WholeMatch)
	if err != nil {
		return err
	}
	if r, err = NewReader(sealed, w.Size()); err != nil {
		return err
	}
	got, _, err := HashContent(r, WholeMatch)
	if err == nil && got != want {
		err = fmt.Errorf("replay: %w: sealed, the match has the content hash %s, want %s", ErrCorrupt, got, want)
	}
	return err
}

func end(w *Writer, reason string) error {
	var e record.Encoder
	e.Header(&lockstep.Header{})
	e.Keyframe(0, 0, nil, nil)
	if err := w.Append(e.End(reason)); err != nil {
		return err
	}
	return w.Close()
}

// A Recovery is the result of Recover.
type Recovery struct {
	Ticks  lockstep.Tick // the last one in the copy
	Damage *DamageError  // why the file ends there, or nil
}

// Recover copies the readable beginning of a torn or damaged file to w, with an end that says what happened, and closes w. It copies no
// blocks after the damage. What it does not know is [ErrUnsupported]: a newer reader loses nothing of it.
func Recover(w *Writer, r *Reader) (*Recovery, error) {
	var damage *DamageError
	_, err := upTo(r, WholeMatch, w)
	found := &Recovery{Ticks: r.tick}
	switch {
	case err == nil:
		return found, w.Close()
	case !errors.As(err, &damage) || !r.began || errors.Is(err, ErrUnsupported):
		return found, err
	}
	found.Damage = damage
	if w.ended {
		return found, w.Close() // only blocks after the end are damaged
	}
	return found, end(w, "recovered: "+damage.Error())
}

// Rekey copies the match of r to w with a keyframe every given number of ticks, and closes w. It compares every checksum, and refuses a
// match with too many ticks, with [ErrLimit]. With 0 only the first keyframe stays, and nothing is simulated.
func Rekey(w *Writer, r *Reader, g *lockstep.Game, every lockstep.Tick, o SimulateOptions) error {
	k := &rekeyer{w: w, r: r, every: every, options: o}
	if every > 0 {
		s, err := r.scan(o.MaxTicks)
		if errors.Is(err, ErrLimit) {
			return err
		}
		k.survey = s
		k.follower = g.NewFollower(lockstep.FollowerOptions{})
	}
	if err := Play(r, nil, k.record); err != nil {
		return err
	}
	return w.Close()
}

type rekeyer struct {
	w        *Writer
	r        *Reader
	every    lockstep.Tick
	options  SimulateOptions
	survey   survey
	follower *lockstep.Follower // nil if keyframes are only removed
	enc      record.Encoder
}

func (k *rekeyer) record(rec *record.Record) error {
	later := rec.Kind == record.KindKeyframe && k.w.began
	if k.follower == nil {
		if later {
			return nil
		}
		return k.w.Append(k.r.Record())
	}
	if rec.Ticks() > 0 {
		return k.frames(rec)
	}
	if rec.Kind == record.KindPanic {
		return k.w.Append(k.r.Record())
	}
	if err := k.follower.Apply(rec); err != nil || later {
		return err
	}
	switch rec.Kind {
	case record.KindHeader:
		k.enc.Header(rec.Header)
	case record.KindKeyframe:
		k.enc.Keyframe(rec.Tick, rec.Keyframe.Hash, rec.Keyframe.Last, rec.Keyframe.State)
	}
	return k.w.Append(k.r.Record())
}

func (k *rekeyer) frames(rec *record.Record) error {
	for frame := range rec.Frames() {
		if err := k.follower.Advance(frame); err != nil {
			return err
		}
		raw := k.r.Record()
		if len(frame.Commands) == 0 {
			raw = []byte(emptyTick)
		}
		if err := k.w.Append(raw); err != nil {
			return err
		}
		if err := k.key(); err != nil {
			return err
		}
	}
	return nil
}

func (k *rekeyer) key() error {
	sim := k.follower.Simulation()
	k.options.progress(sim.Tick()-k.survey.marks[0].tick, k.survey.last-k.survey.marks[0].tick)
	if sim.Tick()%k.every > 0 {
		return nil
	}
	return k.w.Append(k.enc.Keyframe(sim.Tick(), sim.Hash(), k.r.dec.AppendLast(nil), sim.AppendState(nil)))
}

// Continue copies the readable part of an interrupted match to w and flushes w, so that the match can go on in it. It also gives each
// record to log, a [host.Recovery]. The Damage says where the file ended. It is nil only if the match has ended.
func Continue(w *Writer, r *Reader, log lockstep.Log) (*Recovery, error) {
	var damage *DamageError
	_, err := upTo(r, WholeMatch, record.Tee(log, w))
	found := &Recovery{Ticks: r.tick}
	if err != nil && (!errors.As(err, &damage) || !r.began) {
		return found, err
	}
	found.Damage = damage
	return found, w.Flush()
}

// Save copies a match that goes on to w, with an end that says so, and closes w. The file of r must end with a whole block.
func Save(w *Writer, r *Reader) (lockstep.Tick, error) {
	var damage *DamageError
	_, err := upTo(r, WholeMatch, w)
	switch {
	case err == nil:
		return r.tick, w.Close()
	case errors.As(err, &damage) && r.began && r.start == r.size:
		return r.tick, end(w, fmt.Sprintf("saved after tick %d", r.tick))
	}
	return r.tick, err
}

// SignFile replaces a file by the same one with a signature: see [Sign]. At any moment one of the two has the name and is whole.
func SignFile(path string, key ed25519.PrivateKey) error {
	if err := files.Replace(path, func(signed *os.File) error {
		from, err := files.Open(path)
		if err != nil {
			return err
		}
		defer from.Close()
		info, err := from.Stat()
		if err != nil {
			return err
		}
		r, err := NewReader(from, info.Size())
		if err != nil {
			return err
		}
		return Sign(signed, r, key)
	}); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return syncDir(path)
}
