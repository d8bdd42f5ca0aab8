package attack

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

func TestCatalogue(t *testing.T) {
	rows := map[int]bool{}
	for _, a := range All() {
		if found, err := Named(a.Name); found != a || err != nil {
			t.Errorf("%s: got %v, %v, want this attack", a.Name, found, err)
		}
		if rows[a.Row] || a.Row < 1 || a.About == "" || a.Run == nil {
			t.Errorf("%s: got row %d, want a free row, a sentence and a function", a.Name, a.Row)
		}
		rows[a.Row] = true
	}
	for row := range 15 { // of the security review
		if !rows[row+1] && (row+1 != 14 || runtime.GOOS == "linux") {
			t.Errorf("row %d has no attack", row+1)
		}
	}
	if _, err := Named("nothing"); err == nil {
		t.Error("an unknown name has an attack")
	}
}

// Only loopback addresses are dialled. The check of the URL and the dialer both refuse
// others.
func TestOnlyLoopback(t *testing.T) {
	for _, x := range []struct {
		url string
		ok  bool
	}{
		{"ws://127.0.0.1:8766", true},
		{"ws://[::1]:8766", true},
		{"ws://127.8.7.6:8766", true},
		{"ws://192.0.2.1:8766", false},
		{"ws://[::ffff:192.0.2.1]:8766", false},
		{"ws://0.0.0.0:8766", false},
		{"ws://127.0.0.1", false},
		{"wss://127.0.0.1:8766", false},
		{"ws://127.0.0.1:8766/matches", false},
		{"ws://127.0.0.1@192.0.2.1:8766", false},
	} {
		if err := CheckURL(t.Context(), x.url); (err == nil) != x.ok || err != nil && !errors.Is(err, errAddress) {
			t.Errorf("%s: got %v", x.url, err)
		}
	}
	for _, address := range []string{"192.0.2.1:80", "[2001:db8::1]:80", "0.0.0.0:80"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if c, err := dialer("").DialContext(ctx, "tcp", address); !errors.Is(err, errAddress) {
			t.Errorf("%s: got %v, %v, want %v", address, c, err, errAddress)
		}
		cancel()
	}
}

func TestTokens(t *testing.T) {
	var list bytes.Buffer
	if err := WriteTokens(&list, "duel", MostSeats); err != nil {
		t.Fatal(err)
	}
	text := list.String()
	tokens, match, err := ReadTokens(&list)
	if err != nil || match != "duel" || len(tokens.Honest) != 8 || tokens.Admin == "" {
		t.Errorf("got %+v for %q: %v", tokens, match, err)
	}
	for seats := FewestSeats; seats <= MostSeats; seats++ {
		var list bytes.Buffer
		err := WriteTokens(&list, "duel", seats)
		tokens, _, rerr := ReadTokens(&list)
		if err = errors.Join(err, rerr); err != nil || tokens.Seats() != seats || len(tokens.Honest) != Honest(seats) || len(tokens.Holders) == 0 {
			t.Errorf("%d seats: got %+v, %v", seats, tokens, err)
		}
	}
	for _, lost := range []string{"honest-3", "honest-7", "holder-0", "holder-7", "newcomer-2"} {
		if _, _, err := ReadTokens(strings.NewReader(strings.Replace(text, lost, "nobody-3", 1))); !errors.Is(err, ErrTokens) {
			t.Errorf("a list that lacks %s: got %v, want %v", lost, err, ErrTokens)
		}
	}
}

// Nobody notices anything in a good phase. Each row spoils one value of the phase with
// the attack, and the result names it.
func TestFailures(t *testing.T) {
	at := time.Now()
	good := func() phase {
		x := phase{took: time.Second, report: Report{Tries: 1}, agreed: 80, expected: 80, ticks: 20, period: 50 * time.Millisecond, cpu: 10 * time.Millisecond}
		x.welcomes.all, x.welcomes.worst = 4, 10*time.Millisecond
		for range 8 {
			var list []arrival
			for n := range 20 {
				list = append(list, arrival{lockstep.Tick(n), at.Add(time.Duration(n) * 50 * time.Millisecond)})
			}
			x.arrivals = append(x.arrivals, list)
		}
		return x
	}
	for _, x := range []struct {
		name  string
		spoil func(*phase)
		want  string // "": no failure
	}{
		{"nothing", func(*phase) {}, ""},
		{"no try", func(x *phase) { x.report.Tries = 0 }, "the attack did nothing"},
		{"lost", func(x *phase) { x.lost = []string{"closed"} }, "1 honest players were disconnected: closed"},
		{"refused", func(x *phase) { x.refused = 2 }, "2 commands of honest players were refused"},
		{"checksums", func(x *phase) { x.agreed = 71 }, "got 151 checksums of honest players, want 160"},
		{"differing", func(x *phase) { x.differed = 1 }, "1 checksums of honest players differ"},
		{"ticks", func(x *phase) { x.ticks = 9 }, "got 9 ticks, want half of 20 at least"},
		{"newcomers", func(x *phase) { x.welcomes.all = 0 }, "no newcomer joined"},
		{"newcomer", func(x *phase) { x.welcomes.refused = []string{"full"} }, "1 of 4 newcomers were refused: full"},
		{"win", func(x *phase) { x.report.Wins = []string{"a seat"} }, "the attack succeeded: a seat"},
		{"late", func(x *phase) { x.arrivals[3][7].at = x.arrivals[3][7].at.Add(time.Second) }, ""}, // 1 of 160
		{"later", func(x *phase) {
			for i := range x.arrivals {
				x.arrivals[i][7].at = x.arrivals[i][7].at.Add(6 * time.Millisecond)
			}
		}, "frames are 6.0 ms later than without the attack (99 %), want at most 5ms"},
		{"welcome", func(x *phase) { x.welcomes.worst = 1001 * time.Millisecond }, "a newcomer was welcomed after 1001 ms, want at most 1s"},
		{"processor", func(x *phase) { x.cpu = 270 * time.Millisecond }, "the server uses 26 % of a core more, want at most 25 %"},
	} {
		calm, spoilt := good(), good()
		x.spoil(&spoilt)
		var r Result
		r.add(&calm, &spoilt)
		r.finish()
		r.Strict(5 * time.Millisecond)
		if x.want == "" && len(r.Failures) > 0 || x.want != "" && !slices.Equal(r.Failures, []string{x.want}) {
			t.Errorf("%s: got %q, want %q", x.name, r.Failures, x.want)
		}
		if failed := Failure([]*Result{&r}); (failed != nil) != (x.want != "") {
			t.Errorf("%s: got %v", x.name, failed)
		}
	}
}
