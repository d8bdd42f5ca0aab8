package repeat

import (
	"fmt"
	"testing"
	"time"
)

// A request is done once, and answered as it was.
func TestRepeated(t *testing.T) {
	var all Table
	now, k := time.Unix(1e9, 0), Key{Subject: "ada", Text: "1"}
	expect := func(body string, want State, answer string) {
		t.Helper()
		if got, text := all.Begin(k, []byte(body), now); got != want || string(text) != answer {
			t.Errorf("%s: got state %d, %q; want %d, %q", body, got, text, want, answer)
		}
	}
	expect("a", New, "")
	expect("a", Running, "")
	expect("b", Changed, "")
	all.End(k, nil)
	expect("b", New, "")
	all.End(k, []byte("made"))
	expect("b", Done, "made")
	expect("a", Changed, "")
}

// A Table forgets keys after a day, and keeps few of them. Players do not displace those of admins.
func TestKeysForgotten(t *testing.T) {
	var all Table
	now := time.Unix(1e9, 0)
	add := func(admin bool, n int) (found bool) {
		now = now.Add(time.Second)
		k := Key{Admin: admin, Text: fmt.Sprint(n)}
		s, _ := all.Begin(k, nil, now)
		if s == New {
			all.End(k, []byte("{}"))
		}
		return s != New
	}
	add(true, 0)
	for n := range 1000 {
		add(false, n)
	}
	if got := len(all.all); got != maxKeys+1 {
		t.Errorf("got %d keys, want %d", got, maxKeys+1)
	}
	if !add(true, 0) || !add(false, 999) || add(false, 0) {
		t.Error("the key of the admin or the last ones of players were not kept")
	}
	now = now.Add(25 * time.Hour)
	if add(true, 0) || len(all.all) != 1 {
		t.Errorf("after a day: got %d keys, want 1", len(all.all))
	}
	for n := range maxKeys {
		all.Begin(Key{Text: fmt.Sprint("running", n)}, nil, now)
	}
	if s, _ := all.Begin(Key{Text: "one more"}, nil, now); s != Running {
		t.Errorf("while all are in progress: got state %d, want %d", s, Running)
	}
}
