package live

import (
	"errors"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/lockstep"
)

// maxConfiguration bounds the text of a configuration, in bytes: a map in it can have many thousand cells.
const maxConfiguration = 4 << 10

// A configuration is that of a match as text for people. It is made once.
type configuration struct {
	match lockstep.MatchID
	text  []byte
	whole bool
}

// of returns the configuration in a header, up to maxConfiguration, and reports whether that is all.
func (c *configuration) of(g *lockstep.Game, h *lockstep.Header) (text string, whole bool) {
	if c.match != h.Match || c.text == nil {
		c.match, c.text = h.Match, []byte{}
		c.whole = g.ConfigSchema().Dump(c, h.Config) == nil // the header is good; the other error is our own
	}
	return string(c.text), c.whole
}

var errEnough = errors.New("live: the configuration is long")

// Write takes text up to maxConfiguration. It never splits a character.
func (c *configuration) Write(p []byte) (int, error) {
	n := min(len(p), maxConfiguration-len(c.text))
	for n < len(p) && n > 0 && !utf8.RuneStart(p[n]) {
		n--
	}
	c.text = append(c.text, p[:n]...)
	if n < len(p) {
		return n, errEnough
	}
	return n, nil
}
