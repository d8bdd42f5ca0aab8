package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

func TestClassOf(t *testing.T) {
	at := func(err error) error { return &DamageError{Offset: 32, Err: err} }
	for _, c := range []struct {
		name string
		err  error
		want Class
	}{
		{"nothing", nil, ClassOK},
		{"a checksum that differs", &lockstep.DesyncError{}, ClassDesync},
		{"a checksum that differs, and damage after it", errors.Join(&lockstep.DesyncError{}, at(ErrCorrupt)), ClassDesync},
		{"another game", fmt.Errorf("file: %w", &lockstep.IdentityError{}), ClassIdentity},
		{"a short file", at(fmt.Errorf("%w: %w", ErrFormat, io.ErrUnexpectedEOF)), ClassTorn},
		{"a torn block", at(io.ErrUnexpectedEOF), ClassTorn},
		{"a match that nothing more is heard of", at(ErrIdle), ClassTorn},
		{"a record that ends too early inside a block", at(fmt.Errorf("%w: %w", ErrCorrupt, io.ErrUnexpectedEOF)), ClassCorrupt},
		{"other magic", at(ErrFormat), ClassCorrupt},
		{"a file that was replaced", at(ErrReplaced), ClassTorn},
		{"no bundle", ErrBundle, ClassCorrupt},
		{"a rule that is broken", at(ErrInvalid), ClassInvalid},
		{"another signature", ErrSignature, ClassInvalid},
		{"a payload that breaks its schema", fmt.Errorf("field X: %w: %w", record.ErrMalformed, io.ErrUnexpectedEOF), ClassInvalid},
		{"a keyframe that breaks its schema", fmt.Errorf("keyframe: %w", &state.DecodeError{Err: io.ErrUnexpectedEOF}), ClassInvalid},
		{"a command that the game does not have", record.ErrUnknownKind, ClassInvalid},
		{"a limit", at(ErrLimit), ClassLimit},
		{"a block that is not known", at(ErrUnsupported), ClassUnsupported},
		{"a record that is not known", record.ErrUnknownRecord, ClassUnsupported},
		{"a panic on a state", &lockstep.PanicError{Where: "Derive"}, ClassPanic},
		{"a panic before the match", &lockstep.PanicError{Where: "New"}, ""},
		{"no such file", fs.ErrNotExist, ""},
		{"no such tick", &TickError{}, ""},
		{"no game", ErrNoGame, ""},
	} {
		if got := ClassOf(c.err); got != c.want {
			t.Errorf("%s: got class %q, want %q", c.name, got, c.want)
		}
	}
}

// The classes of files that a Reader can tell without the game.
func TestClassOfFiles(t *testing.T) {
	header := (&record.Encoder{}).Header(heapHeader())
	own := heapHeader()
	own.Config = nil
	misfit := (&record.Encoder{}).Header(own)
	noted := func(notes ...[]byte) []byte {
		var e record.Encoder
		b := bytes.Clone(e.Header(heapHeader()))
		b = append(b, e.Keyframe(0, 1, nil, heapState(1))...)
		return seal(blockBatch, append(b, slices.Concat(notes...)...))
	}
	suspended := record.Event(lockstep.System, record.EventSuspended, "after tick 0")
	prefix := appendPrefix(nil, lockstep.MatchID{})
	other := func(at int) []byte {
		b := bytes.Clone(prefix)
		b[at] ^= 2
		return b
	}
	for _, c := range []struct {
		name string
		file []byte
		want Class
	}{
		{"nothing", nil, ClassTorn},
		{"half of the magic", prefix[:4], ClassTorn},
		{"half of another magic", []byte("PK\x03\x04"), ClassCorrupt},
		{"other magic", other(0), ClassCorrupt},
		{"version 3", other(8), ClassUnsupported},
		{"flag 2", other(12), ClassUnsupported},
		{"no end record", seal(blockBatch, header), ClassTorn},
		{"a suspended match", noted(suspended), ClassSuspended},
		{"half a block after that", append(noted(suspended), 1), ClassTorn},
		{"a suspended match that was resumed", noted(suspended, record.Event(lockstep.System, record.EventResumed, "after tick 0")), ClassTorn},
		{"a player's note of that topic", noted(record.Note(lockstep.System, record.EventSuspended, "after tick 0")), ClassTorn},
		{"block 3", seal(3, header), ClassUnsupported},
		{"record 63", seal(blockBatch, []byte{0x92, 63, 1}), ClassUnsupported},
		{"half of a record in a block", seal(blockBatch, header[:9]), ClassCorrupt},
		{"a configuration that breaks its schema", seal(blockBatch, misfit), ClassInvalid},
		{"two headers", seal(blockBatch, append(bytes.Clone(header), header...)), ClassInvalid},
		{"an array of 2^32-1 values", seal(blockBatch, []byte{0xdd, 0xff, 0xff, 0xff, 0xff}), ClassLimit},
		{"another match's header", append(other(16), seal(blockBatch, header)[prefixSize:]...), ClassCorrupt}, // every check fails
	} {
		r, err := NewReader(bytes.NewReader(c.file), int64(len(c.file)))
		for err == nil {
			_, err = r.Next()
		}
		if got := ClassOf(err); got != c.want {
			t.Errorf("%s: got class %q, want %q: %v", c.name, got, c.want, err)
		}
		for _, delay := range []lockstep.Tick{0, 5} {
			if got := suspendedLive(t, c.file, delay); got != (c.want == ClassSuspended) {
				t.Errorf("%s: followed with a delay of %d ticks: got suspended %v", c.name, delay, got)
			}
		}
	}
}

// suspendedLive follows a file to where it ends, and reports whether its match is suspended there.
func suspendedLive(t *testing.T, file []byte, delay lockstep.Tick) bool {
	path := filepath.Join(t.TempDir(), "live.ssr")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLive(path, LiveOptions{Operator: true, Delay: delay, Poll: time.Microsecond, Idle: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for err == nil {
		_, err = l.Next(t.Context())
	}
	return l.Suspended()
}
