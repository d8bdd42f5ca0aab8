//go:build !js

package matchlines

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A visitor sees a match tick by tick: begin, remark for each other line than commands, and end with the commands of the tick
// in canonical order. A checksum or a state may be that of an earlier tick. Ticks of which there is nothing may be left out.
type visitor interface {
	begin(tick uint32) error
	remark(e *matchlog.Entry) error
	end(tick uint32, commands []play) error

	next(tick uint32) uint32                   // the first tick after this one that must not be left out
	skip(ticks uint32) error                   // ticks are left out
	reordered(tick uint32, order uint64) error // the commands of this tick, whose end follows, were not in the order of players
}

// A play is a command of a player: what a tick keeps of its line.
type play struct {
	payload  []byte
	line     int
	sequence uint32
	kind     uint16
	player   uint8
}

// A scan reads a match, and keeps only the commands of one tick.
type scan struct {
	visitor
	tick     uint32
	commands []play
	size     int       // of their payloads
	hash     hash.Hash // of all commands
}

// scanned reads a match from its first tick. The id is a hash of all commands, so that importing again gives the same file.
func scanned(in io.ReadSeeker, first uint32, v visitor) (r *matchlog.Reader, id lockstep.MatchID, err error) {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, id, err // of a pipe: it cannot be read twice
	}
	if r, err = matchlog.NewReader(in); err != nil {
		return nil, id, err
	}
	s := &scan{visitor: v, hash: sha256.New(), tick: first}
	err = s.run(r)
	copy(id[:], s.hash.Sum(nil))
	return r, id, err
}

func (s *scan) run(r *matchlog.Reader) error {
	if err := s.begin(s.tick); err != nil {
		return err
	}
	for {
		e, err := r.Next()
		ended := errors.Is(err, io.EOF)
		if ended {
			e.Tick = r.Ticks()
		} else if err != nil {
			return err
		}
		if err := s.advance(e.Tick); err != nil {
			return err
		}
		if ended {
			return s.finish()
		}
		if err := s.add(&e); err != nil {
			return err
		}
	}
}

func (s *scan) advance(t uint32) error {
	for s.tick < t {
		if err := s.finish(); err != nil {
			return err
		}
		next := min(t, s.next(s.tick))
		if left := next - s.tick - 1; left > 0 {
			if err := s.skip(left); err != nil {
				return err
			}
		}
		s.tick = next
		if err := s.begin(s.tick); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) add(e *matchlog.Entry) error {
	if !e.Command() {
		return s.remark(e)
	}
	s.commands = append(s.commands, play{e.Payload, e.Line, e.Sequence, e.Kind, e.Player})
	most := record.MaxFrameCommands
	if e.Tick == 0 {
		most = record.MaxLobbyCommands
	}
	if s.size += len(e.Payload); len(s.commands) > most || s.size > record.MaxFrameBytes {
		return matchlog.MalformedAt(e.Line, fmt.Errorf("tick %d: got %d commands with payloads of %d bytes, want at most %d and %d",
			e.Tick, len(s.commands), s.size, most, record.MaxFrameBytes))
	}
	return nil
}

func (s *scan) finish() error {
	if !slices.IsSortedFunc(s.commands, func(a, b play) int { return cmp.Compare(a.player, b.player) }) {
		players := make([]byte, len(s.commands))
		for i := range s.commands {
			players[i] = s.commands[i].player
		}
		//samestep:allow unseen xxHash64 is the same function in assembly and in Go
		if err := s.reordered(s.tick, xxhash.Sum64(players)); err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.commands, func(a, b play) int {
		return cmp.Or(cmp.Compare(a.player, b.player), cmp.Compare(a.sequence, b.sequence))
	})
	var b []byte
	for i := range s.commands {
		e := &s.commands[i]
		b = binary.LittleEndian.AppendUint32(append(b[:0], e.player), s.tick)
		b = binary.LittleEndian.AppendUint32(b, e.sequence)
		s.hash.Write(append(binary.LittleEndian.AppendUint16(b, e.kind), e.payload...))
	}
	err := s.end(s.tick, s.commands)
	clear(s.commands)
	s.commands, s.size = s.commands[:0], 0
	return err
}

// A survey is the facts of a whole match that the header needs, and the checksums, which may come later than their ticks.
type survey struct {
	match    matchlog.Header
	id       lockstep.MatchID
	Torn     bool
	first    uint32 // the tick at which it begins
	Ticks    uint32
	content  lockstep.MatchID         // a hash of all commands
	kinds    [math.MaxUint16 + 1]bool // of commands
	votes    []vote                   // in order, and by player within a tick
	sections sectionSums
	lowest   uint32 // tick of a command, a checksum or a state
	lines    bool   // some lines have no other place in a replay
}

// A vote is a checksum that a player reported. Its place has the tick in the high bits and the player in the low eight.
type vote struct {
	hash  uint64
	place uint64
	at    uint32 // of the first sum of its sections in the survey, counted from 1; 0 without sections
	line  uint32 // in the file, and the flags of what is at at
}

const (
	longVote      = 1 << 31 // two halves of a sum of 128 bits
	sectionedVote = 1 << 30 // the sums of the sections
	votingLine    = sectionedVote - 1
)

func (v vote) long() bool              { return v.line&longVote != 0 }
func (v vote) sectioned() bool         { return v.line&sectionedVote != 0 }
func (v vote) tick() uint32            { return uint32(v.place >> 8) }
func (v vote) player() lockstep.Player { return lockstep.Player(v.place) }

// Surveyed reads a match for the first time.
func Surveyed(in io.ReadSeeker) (s *survey, err error) {
	s = &survey{lowest: math.MaxUint32}
	r, content, err := scanned(in, 0, (*surveyor)(s))
	if err != nil {
		return nil, err
	}
	s.match, s.Torn, s.Ticks, s.content, s.id = r.Header, r.Torn(), r.Ticks(), content, content
	if s.match.Match != "" {
		sum := sha256.Sum256([]byte("match " + s.match.Match))
		copy(s.id[:], sum[:])
	}
	slices.SortFunc(s.votes, func(a, b vote) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.hash, b.hash), cmp.Compare(b.at, a.at))
	})
	s.votes = slices.CompactFunc(s.votes, func(a, b vote) bool { return a.hash == b.hash && a.place == b.place })
	s.first = min(max(s.first, s.begins()), s.lowest, s.Ticks)
	return s, nil
}

type surveyor survey

func (*surveyor) begin(uint32) error { return nil }
func (*surveyor) next(uint32) uint32 { return math.MaxUint32 }
func (*surveyor) skip(uint32) error  { return nil }

func (s *surveyor) reordered(uint32, uint64) error {
	s.lines = true
	return nil
}

func (s *surveyor) remark(e *matchlog.Entry) error {
	s.lines = s.lines || e.Gap || e.Order || e.Long != ""
	switch {
	case e.Gap && e.Tick == 0:
		s.first = e.Until + 1
	case e.Checksum || e.Dump:
		s.lowest = min(s.lowest, e.Tick)
	}
	if e.Checksum {
		if n := len(s.votes); n == cap(s.votes) { // append would leave room for more than there can be
			s.votes = append(make([]vote, 0, min(max(2*n, 1024), matchlog.MaxEntries)), s.votes...)
		}
		v := vote{hash: e.Hash, place: uint64(e.Tick)<<8 | uint64(e.Player), line: uint32(e.Line) & votingLine}
		sums := e.Sections
		if e.Long != "" {
			v.line |= longVote
			high, _ := strconv.ParseUint(e.Long[:16], 16, 64) // both are parsed already
			low, _ := strconv.ParseUint(e.Long[16:], 16, 64)
			sums = append([]uint64{high, low}, sums...)
		}
		if e.Sections != nil {
			v.line |= sectionedVote
		}
		if len(sums) > 0 {
			v.at = s.sections.add(sums)
		}
		s.votes = append(s.votes, v)
	}
	return nil
}

func (s *surveyor) end(tick uint32, commands []play) error {
	for i := range commands {
		s.kinds[commands[i].kind] = true
		s.lowest = min(s.lowest, tick)
	}
	return nil
}

// begins returns the first tick: that of the first line, if the recorder's checksums begin later than in a whole recording.
func (s *survey) begins() uint32 {
	var own []uint32
	for _, v := range s.votes {
		if t := v.tick(); (s.match.By == matchlog.Nobody || v.player() == lockstep.Player(s.match.By)) && (len(own) == 0 || own[len(own)-1] != t) {
			own = append(own, t)
		}
	}
	return matchlog.First(own, s.lowest)
}

// take removes and returns the votes of a tick, at most one for each player.
func (s *survey) take(tick uint32) ([]vote, error) {
	n := 0
	for ; n < len(s.votes) && s.votes[n].tick() == tick; n++ {
		if p := s.votes[n].player(); n > 0 && s.votes[n-1].place == s.votes[n].place {
			return nil, matchlog.MalformedAt(int(max(s.votes[n].line&votingLine, s.votes[n-1].line&votingLine)), fmt.Errorf("tick %d: player %d: got two checksums, want one", tick, p))
		}
	}
	taken := s.votes[:n]
	s.votes = s.votes[n:]
	return taken, nil
}

// every returns the interval of checks for the header: the greatest common divisor of their ticks, or 1 without checks.
func (s *survey) every() uint16 {
	every := uint32(0)
	for _, v := range s.votes {
		for t := v.tick(); t > 0; {
			every, t = t, every%t
		}
	}
	if every == 0 || every > math.MaxUint16 {
		return 1
	}
	return uint16(every)
}

// majority returns the checksum that more players reported than any other.
func majority(sums []vote) (hash uint64, ok bool) {
	counts := make(map[uint64]int)
	for _, v := range sums {
		counts[v.hash]++
	}
	most := 0
	for r, n := range counts {
		if n == most {
			ok = false
		} else if n > most {
			hash, most, ok = r, n, true
		}
	}
	return hash, ok
}

// Sums of sections are kept in blocks, because a slice that grows takes twice its memory for a while.
type sectionSums [][]uint64

const sumsOfBlock = 1 << 16

// add keeps the sums of one state, at most 64, and returns where, counted from 1.
func (s *sectionSums) add(sums []uint64) uint32 {
	last := len(*s) - 1
	if last < 0 || len((*s)[last])+len(sums) > sumsOfBlock {
		*s = append(*s, make([]uint64, 0, sumsOfBlock))
		last++
	}
	b := &(*s)[last]
	where := last*sumsOfBlock + len(*b) + 1
	*b = append(*b, sums...)
	return uint32(where)
}

// at returns n sums that add has kept.
func (s sectionSums) at(where uint32, n int) []uint64 {
	i := int(where) - 1
	return s[i/sumsOfBlock][i%sumsOfBlock:][:n]
}
