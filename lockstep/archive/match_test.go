//go:build !js

package archive

import (
	"strings"
	"testing"
)

// A match goes from state to state with its files. Each line is what happens, and the state after it.
func TestMatchStates(t *testing.T) {
	const replay, zip, html = "cup-01020300.ssr", "cup-01020300-desync-7-player1.zip", "cup-01020300-desync-7-player1.html"
	long := func(s state) func(*match) bool {
		return func(m *match) bool { return m.put(replay, "01020300aabb", s, 7) }
	}
	put := func(name string, s state) func(*match) bool {
		return func(m *match) bool { return m.put(name, "01020300", s, 7) }
	}
	does := func(f func(*match)) func(*match) bool {
		return func(m *match) bool {
			f(m)
			return true
		}
	}
	type step struct {
		what   string
		does   func(*match) bool
		ok     bool
		moving string
		want   state
	}
	for name, steps := range map[string][]step{
		"a match with a bundle": {
			{"the bundle waits", put(zip, waiting), true, "", waiting},
			{"it is on its way", put(zip, waiting), true, zip, storing},
			{"it is stored", put(zip, stored), true, "", stored},
			{"the replay waits", long(waiting), true, "", waiting},
			{"it is on its way", long(waiting), true, replay, storing},
			{"it is stored", long(stored), true, "", stored},
			{"the replay is deleted", does(func(m *match) { m.erase(replay, html) }), true, "", deleting},
			{"the page comes late", put(html, waiting), false, html, deleting},
			{"another bundle comes late", put("cup-01020300-desync-9-tie.zip", waiting), false, "", deleting},
			{"the replay is gone", does(func(m *match) { m.erased(replay) }), true, "", deleting},
			{"so it does not come again", long(waiting), false, "", deleting},
			{"the bundle is gone", does(func(m *match) { m.erased(zip) }), true, "", deleting},
			{"the page is gone", does(func(m *match) { m.erased(html) }), true, "", gone},
			{"the match may come again", long(waiting), true, "", waiting},
		},
		"a bundle alone is deleted": {
			{"the replay", long(stored), true, "", stored},
			{"the bundle", put(zip, stored), true, "", stored},
			{"the page", put(html, waiting), true, "", waiting},
			{"the bundle is deleted", does(func(m *match) { m.erase(zip) }), true, "", waiting},
			{"it comes again", put(zip, waiting), false, "", waiting},
			{"the page is stored", put(html, stored), true, "", stored},
			{"the bundle is gone", does(func(m *match) { m.erased(zip) }), true, "", stored},
			{"the store loses the page", does(func(m *match) { m.lose(html) }), true, "", stored},
			{"and the replay", does(func(m *match) { m.lose(replay) }), true, "", gone},
		},
		"a bundle without a replay": {
			{"the bundle", put(zip, stored), true, "", stored},
			{"it is deleted", does(func(m *match) { m.erase(zip) }), true, "", deleting},
			{"the replay comes", long(waiting), true, "", waiting},
			{"a lost tombstone", does(func(m *match) { m.lose(zip) }), true, "", waiting},
			{"the bundle comes again", put(zip, waiting), false, "", waiting},
		},
	} {
		m := &match{Replay: replay, Files: map[string]*file{}}
		for _, s := range steps {
			if ok := s.does(m); ok != s.ok || m.state(s.moving) != s.want {
				t.Errorf("%s: %s: got %v and %s, want %v and %s", name, s.what, ok, m.state(s.moving), s.ok, s.want)
			}
		}
	}
}

// A replay belongs to itself, and what a server has written about it to the replay, whatever users call their matches.
func TestReplayOf(t *testing.T) {
	for name, want := range map[string]string{
		"cup-01020300.ssr": "cup-01020300.ssr", "cup-01020300-desync-7-player1.zip": "cup-01020300.ssr", "cup-01020300-desync-7-tie.html": "cup-01020300.ssr",
		"cup-01020300-desync-final-0a0b0c0d.ssr":                      "cup-01020300-desync-final-0a0b0c0d.ssr",
		"cup-01020300-desync-7-player1-0a0b0c0d-desync-9-player2.zip": "cup-01020300-desync-7-player1-0a0b0c0d.ssr",
		"cup-01020300-desync-7-player1.ssr":                           "cup-01020300-desync-7-player1.ssr", "else.zip": "else.zip", "cup-01020300-desync-x-player1.zip": "cup-01020300-desync-x-player1.zip",
	} {
		if got := replayOf(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// Bundles and pages go before the replay. A file that failed comes after the others, and a refused one when it is time.
func TestQueueOrder(t *testing.T) {
	q := newQueue()
	for _, name := range []string{"a-00000001.ssr", "b-00000002.ssr", "a-00000001-desync-7-tie.zip", "b-00000002-desync-7-tie.zip"} {
		q.add(name, "live/"+name)
	}
	var order []string
	for _, o := range []outcome{left, again, refusal, left, left, left, left} {
		order = append(order, strings.TrimSuffix(q.next(), "-desync-7-tie.zip"))
		if len(order) == 4 && !q.drop(q.moving) {
			t.Error("the file that is deleted is not on its way")
		}
		if o == left && len(order) == 4 {
			o = again // as it is deleted, it is not tried again
		}
		q.end(o)
		if len(order) == 5 {
			q.retry()
		}
	}
	if got, want := strings.Join(order, " "), "a-00000001 a-00000001.ssr b-00000002 b-00000002.ssr a-00000001.ssr b-00000002 "; got != want || len(q.paths) > 0 {
		t.Errorf("got %q, and %v is left, want %q", got, q.paths, want)
	}
}
