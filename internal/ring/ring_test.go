package ring

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// note returns a record of the given size that begins like a note.
func note(size int, fill byte) []byte {
	b := bytes.Repeat([]byte{fill}, size)
	b[0], b[1] = 0x92, byte(record.KindNote)
	return b
}

func TestRing(t *testing.T) {
	for _, row := range []struct {
		name           string
		records, bytes int
		sizes          []int
	}{
		{"short records", 16, 0, []int{3}},
		{"few long ones", 1 << 10, 0, []int{100 << 10, 3, 120 << 10, 7000}},
		{"one pushes all others out", 1 << 10, 0, []int{100 << 10, 100 << 10, protocol.MaxServerMessage}},
		{"as long as can be", 1 << 10, 0, []int{protocol.MaxServerMessage}},
		{"mixed", 100, 300 << 10, []int{3, 5, 90 << 10, 3, 40000, 2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := New(row.records, row.bytes)
			all := [][]byte{nil} // the header
			if err := r.Append([]byte{0x9c, byte(record.KindHeader)}); err != nil {
				t.Fatal(err)
			}
			for i := range 300 {
				raw := note(row.sizes[i%len(row.sizes)], byte(i))
				all = append(all, raw)
				if err := r.Append(append([]byte(nil), raw...)); err != nil {
					t.Fatal(err)
				}
				if err := r.Append([]byte{0x95, byte(record.KindKeyframe)}); err != nil {
					t.Fatal(err)
				}
				if r.Next() != protocol.Position(len(all)) || r.First() >= r.Next() || r.Next()-r.First() > protocol.Position(row.records) {
					t.Fatalf("got positions %d to %d, want the last %d of %d", r.First(), r.Next(), row.records, len(all))
				}
				for p := r.First(); p < r.Next(); p++ {
					if !bytes.Equal(r.Record(p), all[p]) {
						t.Fatalf("record %d is another one after %d", p, i)
					}
				}
				if kept := r.Next() - r.First(); r.First() > 1 && kept < protocol.Position(row.records) && sizeOf(all[r.First()-1:]) <= r.maxBytes-protocol.MaxServerMessage {
					t.Fatalf("gave up record %d without need", r.First()-1)
				}
			}
			if r.Memory() > r.MemoryBound() {
				t.Errorf("got %d bytes of memory, want at most %d", r.Memory(), r.MemoryBound())
			}
			if r.Has(r.First()-1) || r.Has(r.Next()+1) || !r.Has(r.First()) || !r.Has(r.Next()) {
				t.Error("Has is wrong about its ends")
			}
			got, p := r.AppendFrom(nil, r.First(), r.Next()-1, 1<<30)
			if want := bytes.Join(all[r.First():len(all)-1], nil); !bytes.Equal(got, want) || p != r.Next()-1 {
				t.Errorf("got %d bytes up to %d, want %d", len(got), p, len(want))
			}
			if got, p := r.AppendFrom(nil, r.Next()-1, r.Next(), 1); len(got) > 0 || p != r.Next()-1 {
				t.Error("a record went into a byte")
			}
		})
	}
	if err := New(1, 1).Append(note(protocol.MaxServerMessage+1, 0)); err == nil {
		t.Error("took a record larger than a message")
	}
}

// TestRingGrows appends short records. The ring grows with them up to its bounds, and drops none before.
func TestRingGrows(t *testing.T) {
	const records, sizeBytes, each = 3000, 300 << 10, 100
	r := New(records, sizeBytes)
	r.Begin(1)
	if got := r.Memory(); got > 32<<10 {
		t.Errorf("an empty ring has %d bytes, want at most %d", got, 32<<10)
	}
	for i := range 2 * records {
		if err := r.Append(note(each, byte(i))); err != nil {
			t.Fatal(err)
		}
		kept := int(r.Next() - r.First())
		if want := min(i+1, records); kept != want {
			t.Fatalf("got %d records after %d, want %d", kept, i+1, want)
		}
		if got, want := r.Memory(), 32<<10+2*kept*(each+16)+kept; got > want {
			t.Fatalf("got %d bytes for %d records, want at most %d", got, kept, want)
		}
		for _, p := range []protocol.Position{r.First(), r.Next() - 1} {
			if got := r.Record(p); !bytes.Equal(got, note(each, byte(p-1))) {
				t.Fatalf("record %d is another one after %d", p, i+1)
			}
		}
	}
	if got, want := r.Memory(), r.MemoryBound(); got > want {
		t.Errorf("got %d bytes, want at most %d", got, want)
	}
}

func sizeOf(records [][]byte) (n int) {
	for _, r := range records {
		n += len(r)
	}
	return n
}

// Truncate takes the latest records back, and the next ones stand in their place.
func TestTruncate(t *testing.T) {
	r := New(16, 0)
	r.Begin(1)
	for i := range 20 {
		if err := r.Append(note(20+i, byte(i))); err != nil {
			t.Fatal(err)
		}
	}
	r.Truncate(r.Next())
	r.Truncate(15)
	if r.Next() != 15 || r.First() != 5 {
		t.Fatalf("got positions %d to %d, want 5 to 15", r.First(), r.Next())
	}
	if err := r.Append(note(30, 77)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.Record(14), note(33, 13)) || !bytes.Equal(r.Record(15), note(30, 77)) {
		t.Errorf("got %x and %x", r.Record(14), r.Record(15))
	}
	r.Truncate(r.First())
	if r.First() != r.Next() {
		t.Errorf("got positions %d to %d, want none", r.First(), r.Next())
	}
}

// Skip leaves room for what is missing.
func TestSkip(t *testing.T) {
	r := New(16, 0)
	r.Begin(1)
	if err := r.Append(note(20, 1)); err != nil {
		t.Fatal(err)
	}
	r.Skip(12)
	if err := r.Append(note(20, 2)); err != nil {
		t.Fatal(err)
	}
	if r.First() != 1 || r.Next() != 13 || !bytes.Equal(r.Record(1), note(20, 1)) || len(r.Record(5)) != 0 || !bytes.Equal(r.Record(12), note(20, 2)) {
		t.Errorf("got positions %d to %d", r.First(), r.Next())
	}
	r.Skip(100)
	if r.First() != 84 || r.Next() != 100 {
		t.Errorf("got positions %d to %d, want 84 to 100", r.First(), r.Next())
	}
}
