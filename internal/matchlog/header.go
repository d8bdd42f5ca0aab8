package matchlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/seed-49bee653/samestep/state"
)

// Limits of a match.
const (
	maxLine     = 1 << 20 // bytes
	maxSeats    = 250
	maxTick     = 1<<31 - 1 // three years of 20 ticks a second: a world's own ticks
	MaxEntries  = 1 << 20   // forty times those of the longest match that we have seen
	MaxSums     = 5 << 19   // checksums of sections: an hour of 60 ticks a second with 12 sections
	MaxState    = 8 << 20   // bytes of one state
	maxStates   = 1 << 16
	maxBytes    = 256 << 20  // of all lines, uncompressed
	maxKinds    = 4096       // of commands, as in a replay's header
	maxRate     = 1000       // ticks a second
	maxPeriod   = 60_000_000 // microseconds of a tick: a slower match has this period
	maxNumber   = 32         // bytes of a number that is kept as text
	maxName     = 128        // bytes of a topic, as in a note of a replay, and of the names in a header
	maxText     = 1024
	maxSections = 64
)

// ErrUnsupported is wrapped by the error of a header of another version.
var ErrUnsupported = errors.New("this recording needs a newer samestep")

// Nobody is the player of a note of the match, and of a recording of no player's machine.
const Nobody = 255

// A Header is the first line.
type Header struct {
	Title      string
	TickMicros uint32 // the period of a tick in microseconds, 1,000 to 60,000,000
	Players    uint8

	// What a recording has in addition; empty where the line has no such field.
	Match           string // recordings with the same text are of one match
	By              uint8  // the player whose machine recorded; Nobody if it is left out
	Build, Platform string
	Sections        []string // the names of the state's sections
	Type            string   // of the state, as text

	Schema *state.Schema // of Type; nil without one
}

// Recording reports whether the header has what only recordings have.
func (h *Header) Recording() bool {
	return h.Match != "" || h.By != Nobody || len(h.Sections) > 0 || h.Schema != nil
}

// ParseHeader reads the first line, without its line end.
func ParseHeader(line []byte) (Header, error) {
	var l struct {
		Log      int             `json:"log"`
		Title    string          `json:"title"`
		TickRate json.RawMessage `json:"tick_rate_hz"`
		Players  uint8           `json:"players"`
		Match    *string         `json:"match"`
		By       *uint8          `json:"by"`
		Build    *string         `json:"build"`
		Platform *string         `json:"platform"`
		Sections *[]string       `json:"sections"`
		Type     *string         `json:"state"`
	}
	var version struct {
		Log *int `json:"log"`
	}
	if json.Unmarshal(line, &version) == nil && version.Log != nil && *version.Log != 1 { // another version may have other fields
		return Header{}, fmt.Errorf("%w: got version %d, want 1", ErrUnsupported, *version.Log)
	}
	if err := decode(line, &l); err != nil {
		return Header{}, err
	}
	if l.Log != 1 {
		return Header{}, fmt.Errorf("got no version, want 1")
	}
	if l.Players < 1 || l.Players > maxSeats {
		return Header{}, fmt.Errorf("got %d players, want 1 to %d", l.Players, maxSeats)
	}
	h := Header{Title: l.Title, Players: l.Players, By: Nobody}
	if !h.setRate(string(l.TickRate)) {
		return Header{}, fmt.Errorf("got %.40q ticks a second, want a number above 0, at most %d, of at most %d digits", l.TickRate, maxRate, maxNumber)
	}
	for _, f := range []struct {
		name string
		from *string
		to   *string
	}{{"match", l.Match, &h.Match}, {"build", l.Build, &h.Build}, {"platform", l.Platform, &h.Platform}} {
		if f.from == nil {
			continue
		}
		if *f.to = *f.from; len(*f.to) < 1 || len(*f.to) > maxName {
			return Header{}, fmt.Errorf("got a text of %d bytes for the field %q, want 1 to %d", len(*f.to), f.name, maxName)
		}
	}
	if l.By != nil {
		if h.By = *l.By; h.By >= h.Players {
			return Header{}, fmt.Errorf("got player %d for the field \"by\", want 0 to %d", h.By, h.Players-1)
		}
	}
	if l.Sections != nil {
		h.Sections = *l.Sections
		if err := checkSections(h.Sections); err != nil {
			return Header{}, err
		}
	}
	if l.Type != nil {
		var err error
		if h.Type = *l.Type; len(h.Type) > state.MaxTypeBytes {
			return Header{}, fmt.Errorf("got a type of %d bytes for the field \"state\", want at most %d", len(h.Type), state.MaxTypeBytes)
		}
		if h.Schema, err = state.ParseType(h.Type); err != nil {
			return Header{}, fmt.Errorf("the field \"state\": %.200v", err)
		}
	}
	return h, nil
}

// checkSections returns an error unless the names of sections are within their bounds and differ.
func checkSections(names []string) error {
	if len(names) < 1 || len(names) > maxSections {
		return fmt.Errorf("got %d sections, want 1 to %d", len(names), maxSections)
	}
	for i, name := range names {
		switch {
		case len(name) < 1 || len(name) > maxName:
			return fmt.Errorf("got a section with a name of %d bytes, want 1 to %d", len(name), maxName)
		case slices.Contains(names[:i], name):
			return fmt.Errorf("got two sections with the name %q", name)
		}
	}
	return nil
}

// setRate sets the period of a tick and reports whether the rate is valid.
func (h *Header) setRate(text string) bool {
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > maxNumber || !(rate > 0 && rate <= maxRate) {
		return false
	}
	h.TickMicros = period(rate)
	return true
}

func period(rate float64) uint32 { return uint32(min(math.Round(1e6/rate), maxPeriod)) }

// Rate returns the text of the ticks a second of a period in microseconds: as few decimals as give that period again.
func Rate(micros uint32) string {
	for decimals := 0; ; decimals++ {
		text := strconv.FormatFloat(1e6/float64(micros), 'f', decimals, 64)
		if rate, _ := strconv.ParseFloat(text, 64); rate > 0 && period(rate) == micros || decimals == 12 {
			return text
		}
	}
}

// interval returns how many ticks are between two checksums of a machine, whose ticks are ascending; 0 if they are too few or too
// irregular to tell where one is missing: nine of ten have the same distance.
func interval(ticks []uint32) uint32 {
	if len(ticks) < 3 {
		return 0
	}
	distances := make([]uint32, len(ticks)-1)
	for i := range distances {
		distances[i] = ticks[i+1] - ticks[i]
	}
	slices.Sort(distances)
	middle := distances[len(distances)/2]
	from, _ := slices.BinarySearch(distances, middle)
	to, _ := slices.BinarySearch(distances, middle+1)
	if 10*(to-from) < 9*len(distances) {
		return 0
	}
	return middle
}

// First returns the first tick of a recording: lowest, that of its first line, if the machine's checksums, whose ticks are
// ascending, begin later than an interval after the beginning of the match; else 0.
func First(ticks []uint32, lowest uint32) uint32 {
	every := interval(ticks)
	if every == 0 || ticks[0] <= every {
		return 0
	}
	return min(lowest, ticks[0])
}

// A Gap is ticks of which a machine has recorded nothing.
type Gap struct{ From, To uint32 }

// Gaps returns the gaps of a machine between its checksums, where two or more are missing, and nothing else is recorded. Both
// the ticks of the checksums and of the commands are ascending.
func Gaps(sums, commands []uint32) (gaps []Gap) {
	every := interval(sums)
	if every == 0 {
		return nil
	}
	for i, before := range sums[:len(sums)-1] {
		for after := sums[i+1]; before < after; {
			at, _ := slices.BinarySearch(commands, before+1)
			next := after
			if at < len(commands) {
				next = min(next, commands[at])
			}
			if (next-before)/every > 2 {
				gaps = append(gaps, Gap{before + 1, next - 1})
			}
			before = next
		}
	}
	return gaps
}
