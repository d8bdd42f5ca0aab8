//samestep:deterministic
package good

import (
	"errors"
	"regexp"
	"slices"
)

var name = regexp.MustCompile("^[a-z]+$")

var words = []string{"one", "two"}

func known(s string) bool { return name.MatchString(s) && slices.Index(words, s) >= 0 }

var errLost = errors.New("lost")

var costs = [...]uint32{10, 20, 30}

var squares [16]uint32

func init() {
	for i := range squares {
		squares[i] = uint32(i * i)
	}
}

type world struct{ count uint32 }

func next(w *world) (uint32, error) {
	w.count++
	if w.count > costs[2] {
		return 0, errLost
	}
	return squares[w.count%16], nil
}

type kind struct{ cost uint32 }

var kinds = [2]kind{{10}, {20}}

func traits(k uint8) *kind { return &kinds[k%2] }
