package matchlog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/internal/matchlog"
)

const recorded = `{"log":1,"title":"floaty","tick_rate_hz":60,"players":2,"match":"m1","by":1,"build":"1.4","platform":"linux/amd64","sections":["Tick","Speed"],"state":"struct { Tick uint32; Speed float32 }"}
{"t":1,"p":1,"sum":"c126f8bd03a9a491","sections":["0000000000000001","00000000000000ff"]}
{"t":1,"p":0,"s":1,"k":12,"d":"AQI="}
{"t":1,"p":1,"state":"AQAA","more":true}
{"t":1,"p":1,"state":"","more":true}
{"t":1,"p":1,"state":"AAAAwD8="}
{"t":2,"p":1,"sum":"c126f8bd03a9a491"}
{"t":3,"end":true}
`

func TestReadRecording(t *testing.T) {
	r, got, err := readAll(recorded)
	want := []matchlog.Entry{
		{Tick: 1, Player: 1, Checksum: true, Hash: 0xc126f8bd03a9a491, Sections: []uint64{1, 255}},
		{Tick: 1, Sequence: 1, Kind: 12, Payload: []byte{1, 2}},
		{Tick: 1, Player: 1, Dump: true, State: []byte{1, 0, 0, 0, 0, 0, 0xc0, 0x3f}},
		{Tick: 2, Player: 1, Checksum: true, Hash: 0xc126f8bd03a9a491},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != io.EOF || r.Torn() {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	h := r.Header
	if h.Match != "m1" || h.By != 1 || h.Build != "1.4" || h.Platform != "linux/amd64" || len(h.Sections) != 2 || !h.Schema.Floats() || !h.Recording() {
		t.Errorf("got header %+v", h)
	}
}

// Everything before a cut is read, wherever the cut is.
func TestTorn(t *testing.T) {
	_, all, _ := readAll(recorded)
	head := strings.IndexByte(recorded, '\n') + 1
	for cut := head; cut < len(recorded)-1; cut++ {
		r, got, err := readAll(recorded[:cut])
		if err != io.EOF || !r.Torn() || len(got) > len(all) || len(got) > 0 && !cmp.Equal(got, all[:len(got)]) {
			t.Fatalf("cut at %d: got %d entries, torn %t, %v", cut, len(got), r.Torn(), err)
		}
		if whole := strings.Count(recorded[head:cut], "\n"); len(got) < whole-3 {
			t.Errorf("cut at %d: got %d entries of %d lines", cut, len(got), whole)
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(recorded))
	z.Flush() // a killed recorder does not close the stream
	r, got, err := readAll(packed.String()[:packed.Len()-6])
	if err != io.EOF || !r.Torn() || len(got) == 0 {
		t.Errorf("gzip: got %d entries, %v", len(got), err)
	}
}

func TestMalformedRecording(t *testing.T) {
	header := func(old, new string) string { return strings.Replace(recorded, old, new, 1) }
	const second = `{"t":1,"p":1,"state":"AQAAAAAAwD8="}` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"no match":               {header(`"m1"`, `""`), `a text of 0 bytes for the field "match"`},
		"a long build":           {header(`"1.4"`, `"`+strings.Repeat("x", 129)+`"`), `a text of 129 bytes for the field "build"`},
		"by nobody":              {header(`"by":1`, `"by":2`), `got player 2 for the field "by", want 0 to 1`},
		"no sections":            {header(`["Tick","Speed"]`, `[]`), "got 0 sections"},
		"equal sections":         {header(`["Tick","Speed"]`, `["Tick","Tick"]`), `two sections with the name "Tick"`},
		"a section without name": {header(`["Tick","Speed"]`, `["Tick",""]`), "a name of 0 bytes"},
		"null in sections":       {header(`["Tick","Speed"]`, `["Tick",null]`), `for the field "sections", want another value`},
		"a number in sections":   {header(`["Tick","Speed"]`, `["Tick",1]`), "got number"},
		"too many sections":      {header(`["Tick","Speed"]`, `["a`+strings.Join(strings.Split(strings.Repeat("x", 65), ""), `","a`)+`"]`), "sections"},
		"a bad type":             {header(`float32 }`, `float }`), `the field "state": state: bad type at byte 28: got float`},
		"a short state":          {header(`"AAAAwD8="`, `"AAAAwA=="`), "line 6: malformed match: the state of tick 1 does not have the type in the header"},
		"a missing part":         {header(`{"t":1,"p":1,"state":"AAAAwD8="}`+"\n", ""), "want the next part of the state of tick 1 of player 1"},
		"a part of another":      {header(`{"t":1,"p":1,"state":"",`, `{"t":2,"p":1,"state":"",`), "want the next part"},
		"a second state":         {header(`{"t":2,`, second+`{"t":2,`), "a second state of tick 1 of player 1"},
		"only more":              {header(`"state":"","more":true`, `"more":true`), "want either"},
		"only sections":          {header(`"sum":"c126f8bd03a9a491",`, ""), "want either"},
		"fewer sums":             {header(`,"00000000000000ff"]`, `]`), "checksums of 1 sections, want 2"},
		"a short section":        {header(`"00000000000000ff"`, `"ff"`), `got checksum "ff"`},
		"nested sections":        {header(`"00000000000000ff"`, `[]`), "got array"},
		"no type":                {header(`,"state":"struct { Tick uint32; Speed float32 }"`, ""), "the header has no type"},
		"an empty line":          {header("\n", "\n\n"), "line 2: malformed match: got an empty line"},
		"null":                   {header(`"p":1,"sum"`, `"p":null,"sum"`), `got null for the field "p"`},
		"a long line":            {header("\n", "\n"+strings.Repeat(" ", 1<<20)+"\n"), "got a line of more than 1048576 bytes"},
		"after the end":          {recorded + "{}\n", "line 9: malformed match: got a line after the end"},
		"state and sum":          {header(`"state":"",`, `"state":"","sum":"c126f8bd03a9a491",`), "want either"},
	} {
		if _, _, err := readAll(c.text); !errors.Is(err, matchlog.ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// A state has at most 8 MiB, however it is divided.
func TestTooLongState(t *testing.T) {
	part := fmt.Sprintf(`{"t":1,"p":1,"state":"%s","more":true}`+"\n", strings.Repeat("AAAA", 1<<17-100))
	head, _, _ := strings.Cut(recorded, "\n")
	_, _, err := readAll(head + "\n" + strings.Repeat(part, 30))
	if !errors.Is(err, matchlog.ErrMalformed) || !strings.Contains(err.Error(), "has more than 8388608 bytes") {
		t.Errorf("got %v", err)
	}
}
