package attack

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// How many there are of each kind. The rest of the seats is free.
const (
	Seats = 16 // of the match

	honest    = 8
	newcomers = 40 // a subject is welcomed 20 times a minute at most
	hands     = 16
	watchers  = 4
)

// ErrTokens refuses a list of tokens that was not made by [WriteTokens].
var ErrTokens = errors.New("attack: want a list of tokens as --print-tokens makes it")

// Tokens are what the people of an attack show to the server.
type Tokens struct {
	Honest    []string `json:"honest"`    // each for a seat
	Newcomers []string `json:"newcomers"` // of honest players, for any seat
	Hands     []string `json:"hands"`     // of attackers, for any seat
	Holders   []string `json:"holders"`   // of attackers, each for one of the other seats
	Watchers  []string `json:"watchers"`  // spectators
	Admin     string   `json:"admin"`
}

// WriteTokens writes a list of new tokens, in the form of "serve --tokens".
func WriteTokens(w io.Writer, match string) error {
	var b strings.Builder
	line := func(role, seat, kind string, n int) {
		match := match
		if role == "admin" {
			match = "-" // and none that an attack asks for by a false name
		}
		var token [16]byte
		rand.Read(token[:])
		fmt.Fprintf(&b, "%-9s %-2s %-11s %s %s\n", role, seat, fmt.Sprintf("%s-%d", kind, n), match, hex.EncodeToString(token[:]))
	}
	for i := range honest {
		line("player", strconv.Itoa(i), "honest", i)
	}
	for i := range Seats - honest {
		line("player", strconv.Itoa(honest+i), "holder", i)
	}
	for i := range newcomers {
		line("player", "-", "newcomer", i)
	}
	for i := range hands {
		line("player", "-", "hand", i)
	}
	for i := range watchers {
		line("spectator", "-", "watcher", i)
	}
	line("admin", "-", "admin", 0)
	_, err := io.WriteString(w, b.String())
	return err
}

// ReadTokens reads what [WriteTokens] wrote, and the match that the tokens are for.
func ReadTokens(r io.Reader) (t Tokens, match string, err error) {
	lists := map[string]*[]string{"honest": &t.Honest, "newcomer": &t.Newcomers, "hand": &t.Hands, "holder": &t.Holders, "watcher": &t.Watchers}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 5 {
			continue // a comment, or a line of somebody else, as below
		}
		kind, _, _ := strings.Cut(words[2], "-")
		if list := lists[kind]; list != nil {
			*list = append(*list, words[4])
			match = words[3]
		} else if kind == "admin" {
			t.Admin = words[4]
		}
	}
	if len(t.Honest) != honest || len(t.Newcomers) != newcomers || len(t.Hands) != hands || len(t.Holders) != Seats-honest || len(t.Watchers) != watchers || t.Admin == "" {
		return t, match, ErrTokens
	}
	return t, match, lines.Err()
}
