//go:build !js

package archive

import (
	"cmp"
	"strings"
	"testing"
	"time"
)

// A file goes from state to state, and a match with its files. Each line is what happens, and the states of replay, bundle and page after
// it.
func TestMatchStates(t *testing.T) {
	const replay, zip, html = "cup-01020300.ssr", "cup-01020300-desync-7-player1.zip", "cup-01020300-desync-7-player1.html"
	now := time.Unix(1e9, 0)
	late := now.Add(2 * lateTime)
	put := func(name string, s state) func(*match) bool {
		return func(m *match) bool {
			return m.put(name, "01020300aabb"[:8+4*strings.Count(name, ".ssr")], s, 7, s == waiting)
		}
	}
	does := func(f func(*match)) func(*match) bool {
		return func(m *match) bool {
			f(m)
			return true
		}
	}
	erase := func(name string, paths map[string]string) func(*match) bool {
		return does(func(m *match) { m.erase(name, paths, now) })
	}
	erased := func(name string, at time.Time) func(*match) bool {
		return does(func(m *match) { m.erased(name, at.Unix()) })
	}
	comes := func(name string, removed bool) func(*match) bool {
		return does(func(m *match) { m.comeBack(name, removed, now) })
	}
	type step struct {
		what string
		does func(*match) bool
		ok   bool
		want string
	}
	for name, steps := range map[string][]step{
		"a match with a bundle": {
			{"the bundle waits", put(zip, waiting), true, "- waiting -"},
			{"it is stored", put(zip, stored), true, "- stored -"},
			{"the replay waits", put(replay, waiting), true, "waiting stored -"},
			{"it is stored", put(replay, stored), true, "stored stored -"},
			{"the replay is deleted", erase(replay, nil), true, "deleting! deleting! -"},
			{"the page comes late", put(html, waiting), false, "deleting! deleting! -"},
			{"the store has it", comes(html, false), true, "deleting! deleting! deleting!"},
			{"the replay is gone", erased(replay, now), true, "deleting deleting! deleting!"},
			{"it comes back", comes(replay, false), true, "deleting! deleting! deleting!"},
			{"it is gone again", erased(replay, now), true, "deleting deleting! deleting!"},
			{"so it does not come again", put(replay, waiting), false, "deleting deleting! deleting!"},
			{"certainly", erased(replay, late), true, "deleting deleting! deleting!"},
			{"the bundle is gone for certain", erased(zip, late), true, "deleting - deleting!"},
			{"the page is gone", erased(html, now), true, "deleting - deleting"},
			{"and for certain", erased(html, late), true, "- - -"},
			{"the match may come again", put(replay, waiting), true, "waiting - -"},
		},
		"a bundle is deleted with its page": {
			{"the replay", put(replay, stored), true, "stored - -"},
			{"the bundle", put(zip, stored), true, "stored stored -"},
			{"the page", put(html, waiting), true, "stored stored waiting"},
			{"the bundle is deleted", erase(zip, map[string]string{html: "live"}), true, "stored deleting! deleting!"},
			{"it comes again", put(zip, waiting), false, "stored deleting! deleting!"},
			{"they are gone for certain", does(func(m *match) { m.erased(zip, late.Unix()); m.erased(html, late.Unix()) }), true, "stored - -"},
			{"the store loses the replay", does(func(m *match) { m.lose(replay) }), true, "- - -"},
		},
		"a page is deleted alone, at another server than its own": {
			{"the bundle", put(zip, stored), true, "- stored -"},
			{"the page", put(html, waiting), true, "- stored waiting"},
			{"the page is deleted", erase(html, nil), true, "- stored deleting!"},
			{"a lost tombstone", does(func(m *match) { m.lose(html) }), true, "- stored deleting!"},
			{"it is not in the store", erased(html, late), true, "- stored deleting"},
			{"it is seen", comes(html, false), true, "- stored deleting!"},
			{"it is gone", erased(html, late), true, "- stored deleting"},
			{"its server has removed it", comes(html, true), true, "- stored deleting!"},
			{"it is gone for certain", erased(html, late), true, "- stored -"},
		},
	} {
		m := &match{Replay: replay, Files: map[string]*file{}}
		for _, s := range steps {
			ok := s.does(m)
			var got []string
			for _, n := range []string{replay, zip, html} {
				f := m.file(n)
				text := cmp.Or(string(f.State), "-")
				if f.due(now.Unix()) {
					text += "!"
				}
				got = append(got, text)
			}
			if got := strings.Join(got, " "); ok != s.ok || got != s.want {
				t.Errorf("%s: %s: got %v and %s, want %v and %s", name, s.what, ok, got, s.ok, s.want)
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
		"cup-01020300-desync-7-player1.ssr":                           "cup-01020300-desync-7-player1.ssr", "cup-01020300-desync-x-player1.zip": "cup-01020300-desync-x-player1.zip",
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
		q.add(name, "live/"+name, time.Time{})
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
	if got, want := strings.Join(order, " "), "a-00000001 a-00000001.ssr b-00000002 b-00000002.ssr a-00000001.ssr b-00000002 "; got != want || len(q.paths)+len(q.since) > 0 {
		t.Errorf("got %q, and %v is left, want %q", got, q.paths, want)
	}
}
