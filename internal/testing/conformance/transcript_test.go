package conformance

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// transcripts returns the transcripts of the suite by their ids.
func transcripts(t *testing.T) map[string]*Transcript {
	t.Helper()
	all := map[string]*Transcript{}
	for _, c := range suite(t).Cases {
		if c.Kind != "transcript" {
			continue
		}
		text, err := readCase(c.File)
		if err != nil {
			t.Fatal(err)
		}
		if all[c.ID], err = parseTranscript(text); err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
	}
	return all
}

// Control: the comparison notices a changed byte, a missing step and another millisecond
// on each side.
func TestTranscriptControl(t *testing.T) {
	changes := map[string]func(*Transcript, int){
		"a changed byte": func(x *Transcript, i int) {
			b, _ := hex.DecodeString(x.Steps[i].Hex)
			b[len(b)-1] ^= 1
			x.Steps[i].Hex = hex.EncodeToString(b)
		},
		"a missing step":      func(x *Transcript, i int) { x.Steps = slices.Delete(x.Steps, i, i+1) },
		"another millisecond": func(x *Transcript, i int) { x.Steps[i].AtMS++ },
	}
	checked := map[string]int{}
	for id, x := range transcripts(t) {
		for _, side := range x.Plays {
			last := -1
			for i, s := range x.Steps {
				if s.From == side && s.Hex != "" && (side == "server" || slices.Contains(x.Client.Conns, s.Conn)) {
					last = i
				}
			}
			if last < 0 {
				continue // the side only closes a connection
			}
			for name, change := range changes {
				wrong := *x
				wrong.Plays, wrong.Steps = []string{side}, slices.Clone(x.Steps)
				change(&wrong, last)
				if got := runTranscript(wrong.encode()); got.Verdict == messageOK {
					t.Errorf("%s, %s: %s is not noticed", id, side, name)
				}
			}
			checked[side]++
		}
	}
	if checked["server"] < 40 || checked["client"] < 20 {
		t.Errorf("got %v, want more", checked)
	}
}

// A transcript is written again as the same text.
func TestTranscriptText(t *testing.T) {
	for _, c := range suite(t).Cases {
		if c.Kind != "transcript" {
			continue
		}
		text, err := readCase(c.File)
		if err != nil {
			t.Fatal(err)
		}
		x, err := parseTranscript(text)
		if err != nil {
			t.Fatal(err)
		}
		if string(x.encode()) != string(text) {
			t.Errorf("%s is written as another text", c.ID)
		}
	}
	for _, wrong := range []string{"", "{}", `{"format":2}`, `{"format":1,"new":1}`} {
		if _, err := parseTranscript([]byte(wrong)); err == nil || !strings.HasPrefix(err.Error(), "conformance: transcript: ") {
			t.Errorf("%q: got %v", wrong, err)
		}
	}
}
