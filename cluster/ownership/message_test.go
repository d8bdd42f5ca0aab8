package ownership

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestParseErrors(t *testing.T) {
	first := End{Sequence: 2, Check: 7, Term: 1}
	message := func(end End, k kind, term uint32, body string) []byte {
		return appendMessage(nil, end, k, term, []byte(body))
	}
	altered := func(at int, m []byte) []byte {
		m[at]++
		return m
	}
	for _, row := range []struct {
		name     string
		end      End
		sequence uint64
		message  []byte
		want     string // "": none
	}{
		{"a claim", End{}, 2, message(End{}, claim, 1, "a"), ""},
		{"another claim", first, 3, message(first, claim, 2, strings.Repeat("a", maxName)), ""},
		{"records", first, 30, message(first, records, 1, "r"), ""},
		{"a part", first, 30, message(first, part, 1, "r"), ""},
		{"no message", first, 3, nil, "got 0 bytes, want 14 or more of format 1"},
		{"a short one", first, 3, message(first, records, 1, "")[:headerSize-1], "got 13 bytes"},
		{"another format", first, 3, altered(0, message(first, records, 1, "r")), "of format 1"},
		{"an old sequence", first, 2, message(first, records, 1, "r"), "got it after sequence 2"},
		{"sequence 0", End{}, 0, message(End{}, claim, 1, "a"), "got it after sequence 0"},
		{"another message before", first, 3, message(End{2, 8, 1}, records, 1, "r"), "a message is missing or altered"},
		{"an altered kind", first, 3, altered(1, message(first, records, 1, "r")), "a message is missing or altered"},
		{"an altered term", first, 3, altered(2, message(first, records, 1, "r")), "a message is missing or altered"},
		{"an altered check", first, 3, altered(6, message(first, records, 1, "r")), "a message is missing or altered"},
		{"an altered body", first, 3, altered(14, message(first, records, 1, "r")), "a message is missing or altered"},
		{"a claim of the same term", first, 3, message(first, claim, 1, "b"), "got a claim of term 1, want 2"},
		{"a claim two terms later", first, 3, message(first, claim, 3, "b"), "got a claim of term 3, want 2"},
		{"a claim after the last term", End{2, 7, math.MaxUint32}, 3, message(first, claim, 0, "b"), "got a claim of term 0, want 0"},
		{"a claim without a name", first, 3, message(first, claim, 2, ""), "got a name of 0 bytes, want 1 to 64"},
		{"a claim with a long name", first, 3, message(first, claim, 2, strings.Repeat("a", maxName+1)), "got a name of 65 bytes, want 1 to 64"},
		{"records of an old term", End{2, 7, 2}, 3, message(End{2, 7, 2}, records, 1, "r"), "got records of term 1, want 2"},
		{"records of a later term", first, 3, message(first, records, 2, "r"), "got records of term 2, want 1"},
		{"records without a claim", End{}, 3, message(End{}, records, 0, "r"), "got records of term 0, want 0"},
		{"kind 0", first, 3, message(first, 0, 1, "r"), "got kind 0, want 1 to 3"},
		{"kind 4", first, 3, message(first, 4, 1, "r"), "got kind 4, want 1 to 3"},
		{"empty records", first, 3, message(first, records, 1, ""), "got no records"},
		{"an empty part", first, 3, message(first, part, 1, ""), "got no records"},
	} {
		t.Run(row.name, func(t *testing.T) {
			next, k, body, err := parse(row.end, row.sequence, row.message)
			if row.want == "" {
				if err != nil || next.Sequence != row.sequence || next.Check != checkOf(row.message) || k != kind(row.message[1]) || string(body) != string(row.message[headerSize:]) {
					t.Errorf("got %v, kind %d, %q, %v", next, k, body, err)
				}
				return
			}
			if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			r := Reader{end: row.end, owner: "x", whole: []byte("part")}
			if got, err := r.Take(row.sequence, row.message); got != nil || err == nil || r.end != row.end || r.owner != "x" || string(r.whole) != "part" {
				t.Errorf("a reader takes it: %q, %v, %+v", got, err, r)
			}
		})
	}
}

func TestClaimPanics(t *testing.T) {
	for _, row := range []struct {
		name    string
		largest int
	}{{"", 1000}, {strings.Repeat("a", maxName+1), 1000}, {"a", headerSize + maxName - 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("name %q and %d bytes: no panic", row.name, row.largest)
				}
			}()
			Claim(row.name, End{}, row.largest)
		}()
	}
}

// A clone goes on by itself.
func TestReaderClone(t *testing.T) {
	var r Reader
	takes := func(r *Reader, k kind, term uint32, body string) string {
		got, err := r.Take(r.end.Sequence+1, appendMessage(nil, r.end, k, term, []byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	takes(&r, claim, 1, "a")
	takes(&r, part, 1, "one ")
	c := r.Clone()
	takes(&r, part, 1, "two ")
	takes(c, part, 1, "2 ")
	if got, cloned := takes(&r, records, 1, "three"), takes(c, records, 1, "3"); got != "one two three" || cloned != "one 2 3" {
		t.Errorf("got %q and %q", got, cloned)
	}
}

// fuzzed returns messages as the input of FuzzReader.
func fuzzed(messages ...[]byte) (input []byte) {
	for _, m := range messages {
		input = append(binary.LittleEndian.AppendUint16(append(input, 1), uint16(len(m))), m...)
	}
	return input
}

// FuzzReader reads a log from bytes: for each message a byte, which is odd to put the right check into it, its size, and the
// message. A Reader never panics, keeps no more bytes than it got, and takes only what an Owner writes at this place.
func FuzzReader(f *testing.F) {
	a := Claim("a", End{}, largest)
	var log [][]byte
	write := func(o *Owner, raw []byte) {
		o.Append(raw)
		for step := o.Next(); step.Do == Append; step = o.Next() {
			log = append(log, slices.Clone(step.Message))
			o.Accepted(uint64(len(log)))
		}
	}
	write(a, []byte("one"))
	write(a, make([]byte, 200))
	write(Claim("b", a.End(), largest), []byte("two"))
	f.Add(fuzzed(log...))
	f.Add(fuzzed(log[0], log[2], log[2], log[4], log[5]))
	f.Add(fuzzed(log[1:]...))
	f.Fuzz(func(t *testing.T, input []byte) {
		var r Reader
		got, returned := 0, 0
		for sequence := uint64(1); len(input) >= 3; sequence++ {
			size := min(int(binary.LittleEndian.Uint16(input[1:])), len(input)-3)
			message := slices.Clone(input[3 : 3+size])
			if input[0]&1 == 1 && size >= headerSize {
				binary.LittleEndian.PutUint64(message[6:], check(r.end.Check, message))
			}
			input = input[3+size:]
			before := r.Clone()
			complete, err := r.Take(sequence, message)
			if err != nil {
				continue
			}
			got += size - headerSize
			returned += len(complete)
			if len(r.whole)+returned > got {
				t.Fatalf("got %d bytes of records from %d, and %d are kept", returned, got, len(r.whole))
			}
			written(t, before, &r, message)
		}
	})
}

// written fails unless an Owner writes a message at a place.
func written(t *testing.T, before, after *Reader, message []byte) {
	body := message[headerSize:]
	o := &Owner{end: before.end, term: before.end.Term, largest: max(largest, len(message))}
	switch kind(message[1]) {
	case claim:
		o = Claim(string(body), before.end, largest)
	case part:
		o.largest = len(message)
		o.Append(append(slices.Clone(body), 0))
	default:
		o.Append(body)
	}
	if step := o.Next(); step.Do != Append || step.Expect != before.end.Sequence || string(step.Message) != string(message) {
		t.Fatalf("took % x, an owner writes % x", message, step.Message)
	}
	if o.Accepted(after.end.Sequence); o.end != after.end {
		t.Fatalf("got the end %v, the owner has %v", after.end, o.end)
	}
}
