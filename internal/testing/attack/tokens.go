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

// How many tokens of each kind there are. The rest of the seats is free.
const (
	// MostSeats is the number of seats of the attacked match, for a game that has as many. In smaller matches fewer honest
	// players play, and newcomers watch.
	MostSeats = 16

	// FewestSeats are one for an honest player and one for attackers.
	FewestSeats = 2

	newcomers = 40 // a subject is welcomed 20 times a minute at most
	attackers = 16
	watchers  = 4
)

// Honest returns how many of the seats honest players take. The rest is for attackers, and for newcomers if it is not small.
func Honest(seats int) int { return seats / 2 }

// watch reports whether newcomers watch because a match has few seats.
func watch(seats int) bool { return seats < MostSeats }

// ErrTokens is returned for a list of tokens that [WriteTokens] did not make.
var ErrTokens = errors.New("attack: not a list of tokens of WriteTokens")

// Tokens are those of everybody who takes part in an attack.
type Tokens struct {
	Honest    []string `json:"honest"`    // each for one seat
	Newcomers []string `json:"newcomers"` // honest, for any seat, or to watch
	Attackers []string `json:"hands"`     // for any seat
	Holders   []string `json:"holders"`   // of attackers, each for one of the other seats
	Watchers  []string `json:"watchers"`  // spectators
	Admin     string   `json:"admin"`
}

// Seats returns the number of seats of the match.
func (t *Tokens) Seats() int { return len(t.Honest) + len(t.Holders) }

// WriteTokens writes a list of new tokens for a match of some seats, in the form of "serve --tokens".
func WriteTokens(w io.Writer, match string, seats int) error {
	var b strings.Builder
	line := func(role, seat, kind string, n int) {
		match := match
		if role == "admin" {
			match = "-" // any match
		}
		var token [16]byte
		rand.Read(token[:])
		fmt.Fprintf(&b, "%-9s %-2s %-11s %s %s\n", role, seat, fmt.Sprintf("%s-%d", kind, n), match, hex.EncodeToString(token[:]))
	}
	for i := range Honest(seats) {
		line("player", strconv.Itoa(i), "honest", i)
	}
	for i := range seats - Honest(seats) {
		line("player", strconv.Itoa(Honest(seats)+i), "holder", i)
	}
	role := "player"
	if watch(seats) {
		role = "spectator"
	}
	for i := range newcomers {
		line(role, "-", "newcomer", i)
	}
	for i := range attackers {
		line("player", "-", "hand", i)
	}
	for i := range watchers {
		line("spectator", "-", "watcher", i)
	}
	line("admin", "-", "admin", 0)
	_, err := io.WriteString(w, b.String())
	return err
}

// ReadTokens reads the list of [WriteTokens]. It returns the match of the tokens as well.
func ReadTokens(r io.Reader) (t Tokens, match string, err error) {
	lists := map[string]*[]string{"honest": &t.Honest, "newcomer": &t.Newcomers, "hand": &t.Attackers, "holder": &t.Holders, "watcher": &t.Watchers}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 5 {
			continue // a comment or a line that is not ours
		}
		kind, _, _ := strings.Cut(words[2], "-")
		if words[1] != "-" && words[1] != strconv.Itoa(t.Seats()) {
			return t, match, ErrTokens // one is missing
		}
		if list := lists[kind]; list != nil {
			*list = append(*list, words[4])
			match = words[3]
		} else if kind == "admin" {
			t.Admin = words[4]
		}
	}
	seats := t.Seats()
	if seats < FewestSeats || seats > MostSeats || len(t.Honest) != Honest(seats) || len(t.Newcomers) != newcomers || len(t.Attackers) != attackers || len(t.Watchers) != watchers || t.Admin == "" {
		return t, match, ErrTokens
	}
	return t, match, lines.Err()
}

// subprotocol is the WebSocket subprotocol that a client offers; see docs/spec/live.md.
const subprotocol = "samestep.v1"
