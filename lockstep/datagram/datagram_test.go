package datagram_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

var (
	empty = []byte{0x92, 4, 1}
	check = []byte{0x93, 5, 0, 0xcd, 0x12, 0x34}
	frame = []byte{0x95, 3, 1, 1, 2, 0xc4, 2, 7, 9}
)

// The examples of docs/spec/datagrams.md.
var (
	toPlayer = datagram.ToPlayer{
		Head:     datagram.Head{Number: 300, Seen: 298, Count: 295},
		Receipts: []datagram.Receipt{{Sequence: 12, Tick: 1001}},
		Records: []datagram.Record{
			{Position: 1040, Bytes: empty}, {Position: 1041, Bytes: empty}, {Position: 1042, Bytes: frame},
			{Position: 1046, Bytes: check}, {Position: 1047, Bytes: empty},
		},
	}
	toHost = datagram.ToHost{
		Head: datagram.Head{Number: 299, Seen: 300, Count: 290}, Position: 1043, Above: 0b1100, Tick: 1000,
		Commands: []datagram.Command{{Sequence: 12, Kind: 2, Payload: []byte{7, 9}}, {Sequence: 13, Kind: 1, Payload: []byte{}}},
	}
)

func TestExamplesOnPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/datagrams.md")
	if err != nil {
		t.Fatal(err)
	}
	var w datagram.Writer
	for name, b := range map[string][]byte{"host": w.ToPlayer(nil, &toPlayer), "player": w.ToHost(nil, &toHost)} {
		if want := "    " + hex.EncodeToString(b) + "\n"; !strings.Contains(string(page), want) {
			t.Errorf("the datagram of a %s is not on the page:\n%s", name, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	var w datagram.Writer
	var r datagram.Reader
	var p datagram.ToPlayer
	if err := r.ToPlayer(&p, w.ToPlayer(nil, &toPlayer)); err != nil || !reflect.DeepEqual(p, toPlayer) {
		t.Errorf("got %+v, %v, want %+v", p, err, toPlayer)
	}
	var h datagram.ToHost
	if err := r.ToHost(&h, w.ToHost(nil, &toHost)); err != nil || !reflect.DeepEqual(h, toHost) {
		t.Errorf("got %+v, %v, want %+v", h, err, toHost)
	}
}

// Each of these differs from a datagram in one way.
func TestRefuses(t *testing.T) {
	var r datagram.Reader
	for name, text := range map[string]string{
		"another kind":                   "02 01 00 00 90 00",
		"number 0":                       "01 00 00 00 90 00",
		"count above seen":               "01 01 02 03 90 00",
		"seen without a count":           "01 01 02 00 90 00",
		"not the smallest form":          "01 cc 01 00 00 90 00",
		"half a receipt":                 "01 01 00 00 91 05 00",
		"receipt of sequence 0":          "01 01 00 00 92 00 05 00",
		"a position without records":     "01 01 00 00 90 05",
		"records without a position":     "01 01 00 00 90 00 01",
		"an empty tick that is a record": "01 01 00 00 90 05 92 04 01",
		"two runs":                       "01 01 00 00 90 05 01 01",
		"a run beyond the window":        "01 01 00 00 90 05 41",
		"a gap first":                    "01 01 00 00 90 05 cc 80 01",
		"a gap last":                     "01 01 00 00 90 05 01 cc 80",
		"two gaps":                       "01 01 00 00 90 05 01 cc 80 cc 80 01",
		"a gap beyond the window":        "01 01 00 00 90 05 01 cc bf 01",
		"a gap in a longer form":         "01 01 00 00 90 05 01 cd 00 80 01",
		"an array in a record":           "01 01 00 00 90 05 92 04 90",
		"an array of no values":          "01 01 00 00 90 05 90",
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.ToPlayer(&datagram.ToPlayer{}, b); !errors.Is(err, record.ErrMalformed) {
			t.Errorf("%s: got %v, want %v", name, err, record.ErrMalformed)
		}
	}
	for name, text := range map[string]string{
		"above without a position":  "02 01 00 00 00 01 00",
		"above the window":          "02 01 00 00 01 cf 80 00 00 00 00 00 00 00 00",
		"sequence 0":                "02 01 00 00 01 00 00 00 01 c4 00",
		"a sequence that overflows": "02 01 00 00 01 00 00 ce ff ff ff ff 01 c4 00 01 01 c4 00",
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.ToHost(&datagram.ToHost{}, b); !errors.Is(err, record.ErrMalformed) {
			t.Errorf("%s: got %v, want %v", name, err, record.ErrMalformed)
		}
	}
	if err := r.ToPlayer(&datagram.ToPlayer{}, make([]byte, datagram.MaxSize+1)); !errors.Is(err, record.ErrMalformed) {
		t.Errorf("got %v for a datagram that is too large", err)
	}
	var w datagram.Writer
	for b := w.ToHost(nil, &toHost); len(b) > 0; {
		b = b[:len(b)-1]
		if err := r.ToHost(&datagram.ToHost{}, b); err == nil && len(b) != 23 && len(b) != 17 {
			t.Errorf("got no error for the first %d bytes", len(b))
		} else if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v for the first %d bytes", err, len(b))
		}
	}
}

// No bytes make a reader panic, and bytes that it accepts are written back the same.
func FuzzReader(f *testing.F) {
	var w datagram.Writer
	f.Add(w.ToPlayer(nil, &toPlayer))
	f.Add(w.ToHost(nil, &toHost))
	f.Add([]byte{1, 1, 0, 0, 0x90, 5, 0xdd, 0xff, 0xff, 0xff, 0xff, 4})
	f.Add([]byte{1, 1, 0, 0, 0x90, 5, 0x92, 64, 0xc6, 0xff, 0xff, 0xff, 0xff})
	var r datagram.Reader
	var p datagram.ToPlayer
	var h datagram.ToHost
	f.Fuzz(func(t *testing.T, b []byte) {
		if r.ToPlayer(&p, b) == nil {
			if again := w.ToPlayer(nil, &p); !bytes.Equal(again, b) {
				t.Fatalf("got %x, want %x", again, b)
			}
			if first := p.Records; len(first) > datagram.Window || len(first) > 0 && first[len(first)-1].Position-first[0].Position >= datagram.Window {
				t.Fatalf("got %d records of a window of %d", len(first), datagram.Window)
			}
		}
		if r.ToHost(&h, b) == nil {
			if again := w.ToHost(nil, &h); !bytes.Equal(again, b) {
				t.Fatalf("got %x, want %x", again, b)
			}
		}
	})
}
