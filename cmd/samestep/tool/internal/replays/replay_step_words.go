//go:build !js

package replays

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Stepping is a look at ticks, which words from standard input move.
type Stepping struct {
	C      *cli.Context
	A, b   *stepSide // b is nil without a second file
	Tick   lockstep.Tick
	path   string
	Limit  int
	panics bool // the rules, in the last tick
}

// maxStepWord bounds a line of standard input.
const maxStepWord = 4 << 10

// stepInput returns where the words come from, and whether a person is there who can be asks.
func stepInput(c *cli.Context) (in io.Reader, asks bool) {
	f, ok := c.App.Reader.(*os.File)
	switch {
	case !ok || !term.IsTerminal(int(f.Fd())):
		return c.App.Reader, false
	case console.IsTerminal(c.App.Writer):
		return c.App.Reader, true
	}
	return strings.NewReader(""), false // the output goes elsewhere: nobody would see a question
}

// Run shows the first tick, and then does what each line of the input says. If it asks, it prints a mistake and reads the
// next line; else a mistake ends it.
func (s *Stepping) Run(in io.Reader, asks bool) error {
	differs, err := s.show()
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxStepWord)
	for {
		if asks {
			fmt.Fprintf(s.C.App.Writer, "tick %d> ", s.Tick)
		}
		if !lines.Scan() {
			break
		}
		before := *s
		shows, err := s.do(lines.Text())
		if err == nil && shows {
			differs, err = s.show()
		}
		switch {
		case errors.Is(err, io.EOF):
			return s.result(differs)
		case err != nil && !asks:
			return err
		case err != nil:
			*s = before
			fmt.Fprintf(s.C.App.Writer, "%v\n", err)
		}
	}
	return cmp.Or(lines.Err(), s.result(differs))
}

func (s *Stepping) result(differs bool) error {
	switch {
	case differs:
		return console.ErrDiffers
	case s.panics:
		return console.ErrPanicked
	}
	return nil
}

// do does what a line says, and reports whether there is a tick to show. At quit it returns io.EOF.
func (s *Stepping) do(line string) (shows bool, err error) {
	word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	value = strings.TrimSpace(value)
	takes := map[string]bool{"tick": true, "t": true, "limit": true, "path": true}
	if value != "" && !takes[word] {
		return false, console.Usagef("got %q, want %s alone", line, word)
	}
	switch word {
	case "":
		return false, nil
	case "next", "n":
		s.Tick++
	case "previous", "p":
		s.Tick = max(s.Tick, 1) - 1
	case "tick", "t":
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return false, console.Usagef("got tick %q, want a number", value)
		}
		s.Tick = lockstep.Tick(n)
	case "path":
		s.path = value
	case "limit":
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return false, console.Usagef("got limit %q, want a number", value)
		}
		s.Limit = int(n)
	case "help", "h", "?":
		_, err := fmt.Fprint(s.C.App.Writer, stepHelp)
		return false, err
	case "quit", "q":
		return false, io.EOF
	default:
		return false, console.Usagef("unknown word %q, want next, previous, tick N, path PATH, limit N, help or quit", word)
	}
	return true, nil
}

const stepHelp = `n, next      the next tick
p, previous  the tick before
t, tick N    tick N
path PATH    show the fields at or below PATH; without PATH, all
limit N      print at most N lines of fields of a part
q, quit      end
`
