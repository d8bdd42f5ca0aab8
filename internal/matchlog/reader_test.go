package matchlog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
)

const small = `{"log":1,"title":"small","tick_rate_hz":10,"players":2}
{"t":0,"p":0,"sum":"c126f8bd03a9a491"}
{"t":3,"p":1,"s":1,"k":12,"d":"AQI="}
{"t":9,"end":true}
`

func readAll(text string) (*matchlog.Reader, []matchlog.Entry, error) {
	r, err := matchlog.NewReader(strings.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	var entries []matchlog.Entry
	for {
		e, err := r.Next()
		if err != nil {
			return r, entries, err
		}
		e.Line = 0 // TestErrorsNameTheLine has it
		entries = append(entries, e)
	}
}

func TestRead(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(small))
	z.Close()
	for name, text := range map[string]string{"plain": small, "gzip": packed.String()} {
		r, got, err := readAll(text)
		want := []matchlog.Entry{
			{Checksum: true, Hash: 0xc126f8bd03a9a491},
			{Tick: 3, Player: 1, Sequence: 1, Kind: 12, Payload: []byte{1, 2}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if err != io.EOF || r.Ticks() != 9 || !cmp.Equal(r.Header, matchlog.Header{Title: "small", TickMicros: 100000, Players: 2, By: matchlog.Nobody}) || r.Torn() {
			t.Errorf("%s: got %v, header %+v", name, err, r)
		}
		if _, again := r.Next(); again != io.EOF {
			t.Errorf("%s: after the end: %v", name, again)
		}
	}
}

// A note is of a player or of the match, and a rate need not be a whole number.
func TestNotes(t *testing.T) {
	long := strings.Repeat("x", 1024)
	r, got, err := readAll(`{"log":1,"title":"notes","tick_rate_hz":7.50,"players":2}
{"t":0,"note":"map","text":"Fields"}
{"t":0,"p":1,"note":"name","text":"ada"}
{"t":5,"p":0,"note":"chat","text":"` + long + `"}
{"t":9,"end":true}
`)
	want := []matchlog.Entry{
		{Player: matchlog.Nobody, Topic: "map", Text: "Fields"},
		{Player: 1, Topic: "name", Text: "ada"},
		{Tick: 5, Topic: "chat", Text: long},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err != io.EOF || r.Header.TickMicros != 133333 {
		t.Errorf("got %v, header %+v", err, r.Header)
	}
	for rate, want := range map[string]matchlog.Header{
		"20": {TickMicros: 50000}, "0.25": {TickMicros: 4000000}, "1e1": {TickMicros: 100000}, "1000": {TickMicros: 1000}, "128": {TickMicros: 7813}, "59.94005994005994": {TickMicros: 16683}, "1e-9": {TickMicros: 60000000},
	} {
		want.Players, want.By = 1, matchlog.Nobody
		if r, err := matchlog.NewReader(strings.NewReader(`{"log":1,"tick_rate_hz":` + rate + `,"players":1}`)); err != nil || !cmp.Equal(r.Header, want) {
			t.Errorf("rate %s: got %+v, %v", rate, r, err)
		}
	}
}

func TestMalformed(t *testing.T) {
	line := func(n int, text string) string {
		lines := strings.Split(small, "\n")
		lines[n-1] = text
		return strings.Join(lines, "\n")
	}
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"nothing":            {"", io.ErrUnexpectedEOF},
		"a cut header":       {small[:20], io.ErrUnexpectedEOF},
		"cut gzip":           {"\x1f\x8b\x08", matchlog.ErrMalformed},
		"a rate of 0":        {line(1, `{"log":1,"tick_rate_hz":0,"players":2}`), matchlog.ErrMalformed},
		"a negative rate":    {line(1, `{"log":1,"tick_rate_hz":-7.5,"players":2}`), matchlog.ErrMalformed},
		"too high a rate":    {line(1, `{"log":1,"tick_rate_hz":1000.5,"players":2}`), matchlog.ErrMalformed},
		"too long a rate":    {line(1, `{"log":1,"tick_rate_hz":7.`+strings.Repeat("5", 31)+`,"players":2}`), matchlog.ErrMalformed},
		"no rate":            {line(1, `{"log":1,"players":2}`), matchlog.ErrMalformed},
		"half a note":        {line(3, `{"t":3,"p":1,"note":"chat"}`), matchlog.ErrMalformed},
		"note and command":   {line(3, `{"t":3,"p":1,"s":1,"k":12,"d":"AQI=","note":"chat","text":"gg"}`), matchlog.ErrMalformed},
		"note and a kind":    {line(3, `{"t":3,"p":1,"k":12,"note":"chat","text":"gg"}`), matchlog.ErrMalformed},
		"note of nobody":     {line(3, `{"t":3,"p":2,"note":"chat","text":"gg"}`), matchlog.ErrMalformed},
		"a long topic":       {line(3, `{"t":3,"note":"`+strings.Repeat("x", 129)+`","text":"gg"}`), matchlog.ErrMalformed},
		"no topic":           {line(3, `{"t":3,"note":"","text":"gg"}`), matchlog.ErrMalformed},
		"a long text":        {line(3, `{"t":3,"note":"chat","text":"`+strings.Repeat("x", 1025)+`"}`), matchlog.ErrMalformed},
		"a note at the end":  {line(4, `{"t":9,"end":true,"note":"chat","text":"gg"}`), matchlog.ErrMalformed},
		"version":            {line(1, `{"log":2,"tick_rate_hz":10,"players":2}`), matchlog.ErrUnsupported},
		"version and fields": {line(1, `{"log":2,"players":{"n":2}}`), matchlog.ErrUnsupported},
		"no version":         {line(1, `{"tick_rate_hz":10,"players":2}`), matchlog.ErrMalformed},
		"players":            {line(1, `{"log":1,"tick_rate_hz":10,"players":251}`), matchlog.ErrMalformed},
		"no JSON":            {line(2, `t 0`), matchlog.ErrMalformed},
		"unknown field":      {line(2, `{"t":0,"p":0,"sum":"c126f8bd03a9a491","x":1}`), matchlog.ErrMalformed},
		"short sum":          {line(2, `{"t":0,"p":0,"sum":"1"}`), matchlog.ErrMalformed},
		"command and sum":    {line(3, `{"t":3,"p":1,"s":1,"k":12,"d":"AQI=","sum":"c126f8bd03a9a491"}`), matchlog.ErrMalformed},
		"half a command":     {line(3, `{"t":3,"p":1,"s":1}`), matchlog.ErrMalformed},
		"player out of seat": {line(3, `{"t":3,"p":2,"s":1,"k":12,"d":"AQI="}`), matchlog.ErrMalformed},
		"not base64":         {line(3, `{"t":3,"p":1,"s":1,"k":12,"d":"*"}`), matchlog.ErrMalformed},
		"odd base64":         {line(3, `{"t":3,"p":1,"s":1,"k":12,"d":"AR=="}`), matchlog.ErrMalformed},
		"a tick back":        {line(4, `{"t":2,"end":true}`), matchlog.ErrMalformed},
		"no tick":            {line(2, `{"p":0,"sum":"c126f8bd03a9a491"}`), matchlog.ErrMalformed},
		"two values":         {line(4, `{"t":9,"end":true} {}`), matchlog.ErrMalformed},
		"after the end":      {small + `{"t":9,"end":true}`, matchlog.ErrMalformed},
		"a number too large": {line(3, `{"t":3,"p":1,"s":18446744073709551616,"k":12,"d":""}`), matchlog.ErrMalformed},
		"a tick too far":     {line(4, `{"t":2147483648,"end":true}`), matchlog.ErrMalformed},
		"the last number":    {line(4, `{"t":4294967295,"end":true}`), matchlog.ErrMalformed},
		"two equal names":    {line(1, `{"log":1,"title":"small","tick_rate_hz":10,"players":2,"players":3}`), matchlog.ErrMalformed},
		"the case of a name": {line(1, `{"LOG":1,"title":"small","tick_rate_hz":10,"players":2}`), matchlog.ErrMalformed},
		"a name that folds":  {line(3, `{"t":3,"p":1,"\u017f":1,"k":12,"d":"AQI="}`), matchlog.ErrMalformed},
		"two ticks":          {line(2, `{"t":0,"t":0,"p":0,"sum":"c126f8bd03a9a491"}`), matchlog.ErrMalformed},
		"null":               {line(2, `{"t":0,"p":0,"sum":"c126f8bd03a9a491","note":null}`), matchlog.ErrMalformed},
		"not the end":        {line(2, `{"t":0,"p":0,"sum":"c126f8bd03a9a491","end":false}`), matchlog.ErrMalformed},
		"no object":          {line(2, `null`), matchlog.ErrMalformed},
		"bytes in numbers":   {line(3, `{"t":3,"p":1,"s":1,"k":12,"d":[1,2]}`), matchlog.ErrMalformed},
		"a rate as text":     {line(1, `{"log":1,"title":"small","tick_rate_hz":"10","players":2}`), matchlog.ErrMalformed},
		"a bracket too many": {line(2, `{"t":0,"p":0,"sum":"c126f8bd03a9a491"}}`), matchlog.ErrMalformed},
		"not UTF-8":          {line(3, "{\"t\":3,\"note\":\"map\",\"text\":\"\xff\"}"), matchlog.ErrMalformed},
		"a note of 255":      {line(3, `{"t":3,"p":255,"note":"map","text":"Fields"}`), matchlog.ErrMalformed},
		"a command of 255":   {line(3, `{"t":3,"p":255,"s":1,"k":12,"d":""}`), matchlog.ErrMalformed},
		"a very long line":   {line(2, strings.Repeat(" ", 2<<20)), matchlog.ErrMalformed},
	} {
		if _, _, err := readAll(c.text); !errors.Is(err, c.want) || errors.Is(err, io.EOF) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// The error of a number out of its range names the line, the field and the range.
func TestBounds(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"t":3,"p":1,"s":1,"k":65535,"d":""}`, ""},
		{`{"t":3,"p":1,"s":1,"k":65536,"d":""}`, `got number 65536 for the field "k", want a whole number from 0 to 65535`},
		{`{"t":3,"p":1,"s":1,"k":-1,"d":""}`, `got number -1 for the field "k", want a whole number from 0 to 65535`},
		{`{"t":3,"p":1,"s":1,"k":1.5,"d":""}`, `got number 1.5 for the field "k", want a whole number from 0 to 65535`},
		{`{"t":3,"p":256,"s":1,"k":1,"d":""}`, `got number 256 for the field "p", want a whole number from 0 to 255`},
		{`{"t":3,"p":1,"s":4294967296,"k":1,"d":""}`, `got number 4294967296 for the field "s", want a whole number from 0 to 4294967295`},
		{`{"t":3,"p":1,"s":1,"k":1,"d":7}`, `got number for the field "d", want a text`},
		{`[]`, `got array, want an object`},
	} {
		lines := strings.Split(small, "\n")
		lines[2] = c.line
		_, _, err := readAll(strings.Join(lines, "\n"))
		if c.want == "" && !errors.Is(err, io.EOF) || c.want != "" && (err == nil || err.Error() != "matchlog: line 3: malformed match: "+c.want) {
			t.Errorf("%s: got %v, want %s", c.line, err, c.want)
		}
	}
}

// A match has at most as many kinds of commands as the header of a replay.
func TestTooManyKinds(t *testing.T) {
	head, _, _ := strings.Cut(small, "\n")
	var b strings.Builder
	fmt.Fprintln(&b, head)
	for k := range 4097 {
		fmt.Fprintf(&b, `{"t":0,"p":0,"s":%d,"k":%d,"d":""}`+"\n", k+1, k*15)
	}
	_, entries, err := readAll(b.String())
	if want := "line 4098: malformed match: got more than 4096 kinds of commands"; len(entries) != 4096 || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %d entries and %v, want 4096 and %s", len(entries), err, want)
	}
}

// A file that cannot be read is not a malformed match.
func TestUnreadable(t *testing.T) {
	_, err := testgame.LoadRecorded(t.TempDir())
	var unread *fs.PathError
	if !errors.As(err, &unread) || errors.Is(err, matchlog.ErrMalformed) {
		t.Errorf("a folder: got %v", err)
	}
}

// A compressed file can hold any number of lines.
func TestTooMany(t *testing.T) {
	r, err := matchlog.NewReader(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	r.SetCount(1<<20 - 1)
	if _, err := r.Next(); err != nil {
		t.Errorf("the last that is allowed: %v", err)
	}
	if _, err := r.Next(); !errors.Is(err, matchlog.ErrMalformed) || !strings.Contains(err.Error(), "want at most 1048576 commands") {
		t.Errorf("one more: got %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(small)
	f.Fuzz(func(t *testing.T, text string) {
		_, entries, err := readAll(text)
		if len(entries) > len(text) || err == nil {
			t.Fatalf("%d entries in %d bytes, %v", len(entries), len(text), err)
		}
	})
}

// What the quick way reads, the thorough one reads in the same way.
func FuzzQuickEntry(f *testing.F) {
	head, lines, _ := strings.Cut(recorded, "\n")
	h, err := matchlog.ParseHeader([]byte(head))
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(lines) {
		f.Add(strings.TrimSpace(line))
	}
	for _, line := range []string{
		`{"t":01,"p":0,"sum":"0000000000000001"}`, `{"t":1,"p":2,"sum":"0000000000000001"}`, `{"t":1,"t":1,"p":0,"sum":"0000000000000001"}`,
		`{"t":1,"p":0,"sum":"000000000000000A"}`, `{"t":1,"p":0,"sum":"0000000000000001",}`, `{"t":1,"p":0,"s":4294967296,"k":1,"d":""}`,
		`{"t":1,"p":0,"s":1,"k":1,"d":"A"}`, `{"t":1,"p":0,"s":1,"k":1,"d":"AB=="}`, `{"t":2147483648,"p":0,"sum":"0000000000000001"}`,
		`{"t":1,"p":0,"note":"phases","text":"move=0000000000000001 dice#2"}`, `{"t":1,"note":"chat","text":""}`, `{"t":1,"note":"","text":""}`, `{"t":1,"p":0,"note":"x"}`,
		`{"t":1,"p":2,"note":"x","text":""}`, `{"t":1,"p":0,"note":"` + strings.Repeat("n", 129) + `","text":""}`, `{"t":1,"p":0,"note":"x","text":"` + strings.Repeat("n", 1025) + `"}`,
		`{"t":1,"p":0,"state":"","more":false}`, `{"t":1,"p":0,"sum":"0000000000000001","sections":[]}`, `{"t":1,"p":0,"s":1,"k":1,"d":"","sum":"0000000000000001"}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		quick, ok := matchlog.QuickEntry(&h, []byte(line))
		if !ok {
			return
		}
		want, end, err := matchlog.ParseEntry(&h, []byte(line))
		if diff := cmp.Diff(want, quick); diff != "" || end || err != nil {
			t.Errorf("%s: %v (-thorough +quick):\n%s", line, err, diff)
		}
	})
}

// The lines of a recorder are read in the quick way.
func TestQuickEntry(t *testing.T) {
	head, lines, _ := strings.Cut(recorded, "\n")
	h, err := matchlog.ParseHeader([]byte(head))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(lines) {
		if _, ok := matchlog.QuickEntry(&h, []byte(strings.TrimSpace(line))); !ok && !strings.Contains(line, "end") {
			t.Errorf("not read: %s", line)
		}
	}
}

func ExampleReader() {
	r, err := matchlog.NewReader(strings.NewReader(small))
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		e, err := r.Next()
		if err != nil {
			break
		}
		fmt.Printf("tick %d, player %d, checksum %t\n", e.Tick, e.Player, e.Checksum)
	}
	fmt.Println(r.Ticks(), "ticks")
	// Output:
	// tick 0, player 0, checksum true
	// tick 3, player 1, checksum false
	// 9 ticks
}

// A compressed file of a few KB can hold any number of bytes.
func TestTooManyBytes(t *testing.T) {
	head, _, _ := strings.Cut(small, "\n")
	line := strings.Repeat(" ", 1<<20-100) + `{"t":0,"p":0,"sum":"c126f8bd03a9a491"}` + "\n"
	parts := []io.Reader{strings.NewReader(head + "\n")}
	for range 300 {
		parts = append(parts, strings.NewReader(line))
	}
	r, err := matchlog.NewReader(io.MultiReader(parts...))
	lines := 0
	for ; err == nil; lines++ {
		_, err = r.Next()
	}
	if lines > 260 || !errors.Is(err, matchlog.ErrMalformed) || !strings.Contains(err.Error(), "more than 268435456 bytes") {
		t.Errorf("got %d lines and %v", lines, err)
	}
}

// How many times as long the thorough way takes as the quick one.
func BenchmarkParseEntry(b *testing.B) {
	head, lines, _ := strings.Cut(recorded, "\n")
	h, err := matchlog.ParseHeader([]byte(head))
	if err != nil {
		b.Fatal(err)
	}
	line, _, _ := strings.Cut(lines, "\n")
	text := []byte(line)
	var quick, thorough time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, ok := matchlog.QuickEntry(&h, text); !ok {
			b.Fatal("not read")
		}
		half := time.Now()
		if _, _, err := matchlog.ParseEntry(&h, text); err != nil {
			b.Fatal(err)
		}
		quick += half.Sub(begin)
		thorough += time.Since(half)
	}
	b.ReportMetric(float64(thorough)/float64(quick), "times")
}

// The text of a period gives that period again.
func TestRate(t *testing.T) {
	for micros, want := range map[uint32]string{50000: "20", 133333: "7.5", 16683: "59.94", 16667: "60", 7813: "128", 1000: "1000", 600000: "1.666667", 60_000_000: "0.0166666667"} {
		if got := matchlog.Rate(micros); got != want {
			t.Errorf("%d µs: got %s, want %s", micros, got, want)
		}
	}
	for micros := uint32(1000); micros <= 60_000_000; micros += 1 + micros/997 {
		text := matchlog.Rate(micros)
		h, err := matchlog.ParseHeader([]byte(`{"log":1,"title":"x","tick_rate_hz":` + text + `,"players":1}`))
		if err != nil || h.TickMicros != micros {
			t.Errorf("%d µs: got %s, which is %d µs, %v", micros, text, h.TickMicros, err)
		}
	}
}
