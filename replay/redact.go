package replay

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// RedactBundle writes a bundle without the names of players, without the sources of programs, and without what of its replay may
// have texts of people: the reason of its end, what rules panicked with, lines of an imported match, notes, such as names, chat, and those with topics
// of a game, and the events whose texts people may give. The match, its checksums and the states stay, so it can be explained as before. [PlainTexts] names what texts remain. Of a torn or damaged replay, only the readable part is copied. A
// replay of more than maxBytes is [ErrLimit].
func RedactBundle(w io.Writer, b *Bundle, maxBytes int64) error {
	z := zip.NewWriter(w)
	m := b.Manifest
	m.Participants = slices.Clone(m.Participants)
	for i := range m.Participants {
		m.Participants[i].Name, m.Participants[i].Sources = "", ""
	}
	if m.Panic != nil {
		m.Panic = &BundlePanic{Where: m.Panic.Where, Stack: withoutPlaces(m.Panic.Stack)}
	}
	m.Exhibits = slices.Clone(m.Exhibits)
	for i := range m.Exhibits {
		x := &m.Exhibits[i]
		for _, side := range []struct {
			name *string
			word string
		}{{&x.Referee, "referee"}, {&x.Player, "player"}} {
			if *side.name == "" {
				continue
			}
			p, err := b.State(*side.name)
			if err != nil {
				return err
			}
			*side.name = stateName(x.Tick, side.word) // a stranger's bundle may have any other
			if err := addFile(z, *side.name, p); err != nil {
				return err
			}
		}
	}
	text, err := json.MarshalIndent(&m, "", "  ")
	if err != nil {
		return err
	}
	if err := addFile(z, manifestName, text); err != nil {
		return err
	}
	for _, sum := range b.contents() { // the match cannot be computed without them
		content, err := b.Content(sum, record.MaxAssetBytes)
		if err == nil {
			err = addFile(z, bundleContents+sum, content)
		}
		if err != nil {
			return err
		}
	}
	file, err := b.Replay(maxBytes)
	if err != nil {
		return err
	}
	if file, err = redacted(file); err != nil {
		return err
	}
	if err := addFile(z, bundleReplay, file); err != nil {
		return err
	}
	return z.Close()
}

// redacted returns the readable part of a replay without texts of people.
func redacted(file []byte) ([]byte, error) {
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	var e record.Encoder
	w := NewWriter(&out, WriterOptions{})
	err = Play(r, nil, func(rec *record.Record) error {
		clean := *rec
		switch {
		case rec.Kind == record.KindHeader:
			h := *rec.Header
			h.Sources = ""
			clean.Header = &h
		case rec.Kind == record.KindEnd:
			clean.Text = ""
		case rec.Kind == record.KindPanic:
			p := *rec.Panic
			p.Text, p.Stack = "", withoutPlaces(p.Stack)
			clean.Panic = &p
		case rec.RulesSum() != "": // without which nobody could choose the rules
		case rec.Kind >= record.FirstOptional && !rec.Plain():
			return nil
		}
		return w.Append(e.Record(&clean))
	})
	if err != nil && (!errors.As(err, new(*DamageError)) || !r.began) {
		return nil, err
	}
	err = w.Flush()
	return out.Bytes(), err
}

// placeLine matches a line of a stack with a file and a line of code.
var placeLine = regexp.MustCompile(`(?m)^\t.*:\d+.*\n?`)

// withoutPlaces returns a stack without the files of the machine on which its program was built.
func withoutPlaces(stack string) string { return placeLine.ReplaceAllString(stack, "") }

// PlainTexts names the texts of a match that [RedactBundle] cannot remove, because the match cannot be computed without them:
// fields of its states, its configuration, its commands and its result that are strings.
func PlainTexts(h *lockstep.Header) ([]string, error) {
	all := []string{}
	add := func(what string, description []byte) error {
		if len(description) == 0 {
			return nil
		}
		s, err := state.ParseSchema(description)
		if err == nil {
			all = appendTexts(all, what, s.Root())
		}
		return err
	}
	err := errors.Join(add("state", h.StateSchema), add("configuration", h.ConfigSchema), add("result", h.ResultSchema))
	for _, c := range h.Commands {
		err = errors.Join(err, add("command "+c.Name, c.Schema))
	}
	return all, err
}

// appendTexts appends the fields at or below a node that are strings.
func appendTexts(all []string, what string, n state.Node) []string {
	switch n.Kind() {
	case state.String:
		return append(all, what+": "+n.Path())
	case state.Struct:
		for i := range n.NumFields() {
			all = appendTexts(all, what, n.Field(i))
		}
	case state.Array, state.Slice:
		return appendTexts(all, what, n.Elem())
	}
	return all
}
