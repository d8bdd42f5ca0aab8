//go:build !js

package archive_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/bucket"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
	"github.com/seed-49bee653/samestep/server/archive/s3"
)

// A step of a script is one thing that happens to two servers with one store.
type step struct {
	do     action
	who    int // the server
	which  int // the match or the file
	fault  fault
	at     int  // the call of the store that has it, from 1 on
	really bool // for actions with two forms
}

type action int

const (
	finish      action = iota // a match is over: its replay, a bundle and a page are in a server's folder
	move                      // a file into the store
	tidy                      // retention and deletion
	erase                     // an admin deletes a match, or a bundle
	eraseMoving               // the same during the next move
	lose                      // the store loses a file
	goAway                    // the store is away until the next one
	comeBack
	land // what hung has its effect
	restart
	lostIndex // and a restart
	actions   = iota
)

var actionNames = [actions]string{"finish", "move", "tidy", "erase", "erase during a move", "lose", "away", "back", "land", "restart", "lose the index"}

func (s step) String() string {
	text := fmt.Sprintf("%s, server %d, number %d, %t", actionNames[s.do], s.who, s.which, s.really)
	if s.fault != works {
		text += fmt.Sprintf(", call %d %v", s.at, s.fault)
	}
	return text
}

// randomScript returns the script of a seed.
func randomScript(seed uint64) []step {
	r := rand.New(rand.NewPCG(seed, 44))
	weights := [actions]int{finish: 10, move: 30, tidy: 12, erase: 6, eraseMoving: 4, lose: 2, goAway: 2, comeBack: 4, land: 4, restart: 3, lostIndex: 1}
	var script []step
	for range 40 {
		n, do := r.IntN(78), action(0)
		for n -= weights[do]; n >= 0; n -= weights[do] {
			do++
		}
		s := step{do: do, who: r.IntN(2), which: r.IntN(1000), really: r.IntN(2) == 0}
		if r.IntN(3) == 0 {
			s.fault, s.at = fault(1+r.IntN(faults-1)), 1+r.IntN(8)
		}
		script = append(script, s)
	}
	return script
}

// scriptNames are names of matches, with the first digits of their IDs. Some begin with the file name of another one.
var scriptNames = []string{
	"cup-01020300", "cup-01020300-desync-final-0a0b0c0d", "cup-01020300-desync-7-player1-0a0b0c0e", "cup-01020301", "cu-01020302", "cup-01020300-11020300",
	"a-00000001", "b-00000002", "z-00000003", "m.1-00000004",
}

// A known file is what the script knows of a file.
type known struct {
	match, name string
	size        int64
	home        int
	ended       time.Time
	fate        fate
}

type fate int

const (
	alive  fate = iota
	erased      // an admin has deleted it, and got an answer
	unsure      // an admin has deleted it, and a crash came in between
	lost        // the store has lost it
)

// A play is a script that runs.
type play struct {
	t      *testing.T
	limits archive.Keep
	keep   archive.Keep // limits, unless they are broken on purpose
	dir    string
	store  archive.Store
	faulty *faulty
	all    [2]*archive.Archive
	files  map[string]*known
	next   int

	contents map[string][]byte // of the replays, by their names without an extension
	now      time.Time
	broken   string // the first thing that is wrong

	shared   bool // one index
	real     bool // real time
	did      step // the last one
	sabotage func(p *play)
}

func (p *play) wrong(format string, args ...any) {
	if p.broken == "" {
		p.broken = fmt.Sprintf(format, args...)
	}
}

func (p *play) live(who int) string { return filepath.Join(p.dir, fmt.Sprint("live", who)) }

// index is the path of a server's index.
func (p *play) index(who int) string {
	if p.shared {
		who = 0
	}
	return filepath.Join(p.dir, fmt.Sprint("index", who))
}

// open starts a server again, after a crash or for the first time.
func (p *play) open(who int) {
	a, err := archive.Open(archive.Options{Store: p.faulty, Index: p.index(who), Keep: p.limits, Grace: -1, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = os.MkdirAll(p.live(who), 0o700)
	}
	if err == nil {
		err = a.Adopt(p.live(who))
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.all[who] = a
}

// attempt calls f with a fault of the store, and reports whether the program of a server crashed.
func (p *play) attempt(s step, f func() error) (err error, crashed bool) {
	p.faulty.fault, p.faulty.at = s.fault, s.at
	defer func() {
		p.faulty.fault, p.faulty.at = works, 0
		if v := recover(); v != nil {
			if _, ok := v.(crash); !ok {
				panic(v)
			}
			crashed = true
			p.open(s.who)
		}
	}()
	return f(), false
}

// stored returns the sizes of the files of matches in the store, as they really are.
func (p *play) stored() map[string]int64 {
	all := make(map[string]int64)
	if err := p.store.List(p.t.Context(), func(o archive.Object) error {
		all[o.Name] = o.SizeBytes
		return nil
	}); err != nil {
		p.t.Fatal(err)
	}
	return all
}

// run runs a script, and returns what was wrong, or "".
func (p *play) run(script []step) string {
	for who := range p.all {
		p.open(who)
	}
	for i, s := range script {
		p.step(s)
		if p.did = s; p.sabotage != nil {
			p.sabotage(p)
		}
		p.check()
		if p.broken != "" {
			return fmt.Sprintf("after step %d: %s", i, p.broken)
		}
	}
	p.settle()
	if p.did = (step{do: actions}); p.sabotage != nil {
		p.sabotage(p)
	}
	p.check()
	p.checkEnd()
	return p.broken
}

func (p *play) step(s step) {
	a := p.all[s.who]
	switch s.do {
	case finish:
		p.finish(s)
	case move:
		p.attempt(s, func() error { return a.MoveNext(p.t.Context()) })
	case tidy:
		p.tidy(s)
	case erase:
		if name := p.pick(s); name != "" {
			p.erase(s, name)
		}
	case eraseMoving:
		p.eraseMoving(s)
	case lose:
		if f := p.files[p.pick(s)]; f != nil {
			if _, there := p.stored()[f.name]; there && f.fate == alive {
				f.fate = lost
				p.store.Delete(p.t.Context(), f.name)
			}
		}
	case goAway:
		p.faulty.away = true
	case comeBack:
		p.faulty.away = false
	case land:
		p.faulty.land()
	case lostIndex:
		if len(a.Tombs()) > 0 || p.shared { // the other server knows what it has only with its index
			return // the tombstones are in it
		}
		os.Remove(p.index(s.who))
		p.open(s.who)
	case restart:
		p.open(s.who)
	}
}

// pick returns the name of a file that is known: of a replay, or of any file.
func (p *play) pick(s step) string {
	var names []string
	for name := range p.files {
		if !s.really || strings.HasSuffix(name, ".ssr") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return names[s.which%len(names)]
}

// finish ends a match.
func (p *play) finish(s step) {
	if p.next == len(scriptNames) {
		return
	}
	stem := scriptNames[p.next]
	content := p.contents[stem]
	ended := noon.Add(time.Duration(s.which) * time.Minute)
	files := map[string][]byte{stem + ".ssr": content}
	for n := range s.which % 3 {
		files[fmt.Sprintf("%s-desync-%d-player%d.zip", stem, 10+n, n)] = make([]byte, 500+s.which)
		if s.really {
			files[fmt.Sprintf("%s-desync-%d-player%d.html", stem, 10+n, n)] = make([]byte, 300)
		}
	}
	p.next++
	for name, b := range files {
		put(p.t, p.live(s.who), name, b, 0)
		path := filepath.Join(p.live(s.who), name)
		if err := os.Chtimes(path, ended, ended); err != nil {
			p.t.Fatal(err)
		}
		p.files[name] = &known{match: stem, name: name, size: int64(len(b)), home: s.who, ended: ended}
	}
	err := p.all[s.who].Played(filepath.Join(p.live(s.who), stem+".ssr"), map[lockstep.Player]string{0: stem})
	if err == nil {
		err = p.all[s.who].Adopt(p.live(s.who))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// group returns the files that go with a name.
func (p *play) group(name string) (all []*known) {
	for _, f := range p.files {
		page := strings.HasSuffix(name, ".zip") && f.name == strings.TrimSuffix(name, ".zip")+".html"
		if f.name == name || page || strings.HasSuffix(name, ".ssr") && f.match+".ssr" == name {
			all = append(all, f)
		}
	}
	return all
}

// home returns the server in whose folder a file of a match waits, or else who. Only that one can delete the match for good, unless the
// servers share an index.
func (p *play) home(who int, name string) int {
	if p.shared {
		return who
	}
	for _, f := range p.files {
		if _, err := os.Lstat(filepath.Join(p.live(f.home), f.name)); err == nil && f.match == p.files[name].match {
			return f.home
		}
	}
	return who
}

// erase deletes a file, or a match.
func (p *play) erase(s step, name string) {
	s.who = p.home(s.who, name)
	err, crashed := p.attempt(s, func() error { return p.all[s.who].Delete(p.t.Context(), name) })
	p.erasedNow(s.who, name, err, crashed)
}

func (p *play) erasedNow(who int, name string, err error, crashed bool) {
	for _, f := range p.group(name) {
		switch {
		case crashed && f.fate == alive:
			f.fate = unsure
		case !crashed && err == nil && f.fate != lost:
			f.fate = erased
			if e, err := p.all[who].Get(p.t.Context(), f.name); !errors.Is(err, server.ErrArchived) {
				p.wrong("deleted: %s is found: %+v, %v", f.name, e, err)
			}
		}
	}
}

// eraseMoving deletes a match while one of its files is on its way.
func (p *play) eraseMoving(s step) {
	a := p.all[s.who]
	name, done := "", make(chan error, 1)
	p.faulty.during = func(ctx context.Context) error {
		if name = p.pick(s); name == "" || p.home(s.who, name) != s.who {
			name = ""
			return nil
		}
		go func() { done <- a.Delete(p.t.Context(), name) }()
		select {
		case <-ctx.Done():
			if s.which%2 == 0 {
				return ctx.Err()
			}
			return nil // it was too late
		case err := <-done:
			done <- err
			return nil // it was about another file
		}
	}
	a.MoveNext(p.t.Context())
	if p.faulty.during = nil; name != "" {
		p.erasedNow(s.who, name, <-done, false)
	}
}

// tidy lets a server delete what is not to be kept, and compares that with what the limits say of the real store.
func (p *play) tidy(s step) {
	a := p.all[s.who]
	fresh := a.Refresh(p.t.Context()) == nil
	before, tombs := p.stored(), a.Tombs()
	var all []*known
	either := map[string]bool{} // evidence whose replay waits may grow old with it or by itself
	for _, f := range p.files {
		_, there := before[f.name]
		_, err := os.Lstat(filepath.Join(p.live(f.home), f.match+".ssr"))
		if there && !tombs[f.name] {
			all = append(all, f)
		}
		either[f.name] = p.keep.Age > 0 && err == nil
	}
	want := surplusOf(all, p.keep, p.now)
	err, crashed := p.attempt(s, func() error { return a.Tidy(p.t.Context(), p.now) })
	after, tombs := p.stored(), p.all[s.who].Tombs()
	got := map[string]bool{}
	for _, f := range all {
		if _, there := after[f.name]; !there || tombs[f.name] {
			got[f.name] = true
			if !want[f.name] && !either[f.name] {
				p.wrong("%s was deleted, want it kept; the store has %v, and %v goes", f.name, describeFiles(all), want)
			}
			for _, g := range p.group(f.name) { // also those that wait
				switch {
				case g.fate == unsure || p.home(s.who, g.name) != s.who:
					g.fate = lost // it may be stored again
				case g.fate == alive:
					g.fate = erased
				}
			}
		}
	}
	for name := range want {
		if fresh && err == nil && !crashed && !got[name] && !either[name] {
			p.wrong("deleted %v, want %v of %v", got, want, describeFiles(all))
		}
	}
}

func describeFiles(all []*known) (text []string) {
	for _, f := range all {
		text = append(text, fmt.Sprintf("%s of %d bytes at %v", f.name, f.size, f.ended.Format(time.Kitchen)))
	}
	slices.Sort(text)
	return text
}

// surplusOf says what the limits do not allow, in the simplest way: it deletes the oldest until it is enough.
func surplusOf(all []*known, k archive.Keep, now time.Time) map[string]bool {
	gone := make(map[string]bool)
	slices.SortFunc(all, func(a, b *known) int { return cmp.Or(a.ended.Compare(b.ended), strings.Compare(a.name, b.name)) })
	total := func(is func(f *known) bool) (n int, bytes int64) {
		for _, f := range all {
			if !gone[f.name] && is(f) {
				n, bytes = n+1, bytes+f.size
			}
		}
		return n, bytes
	}
	ext := func(e string) func(f *known) bool { return func(f *known) bool { return filepath.Ext(f.name) == e } }
	evidence := func(f *known) bool { return !ext(".ssr")(f) }
	old := func(f *known) bool { return k.Age > 0 && now.Sub(f.ended) > k.Age }
	has := map[string]bool{}
	for _, f := range all {
		if ext(".ssr")(f) {
			n, bytes := total(ext(".ssr"))
			if old(f) || k.Replays > 0 && n > k.Replays || k.Bytes > 0 && bytes > k.Bytes {
				for _, g := range all {
					gone[g.name] = gone[g.name] || g.match == f.match
				}
			} else {
				has[f.match] = true
			}
		}
	}
	for _, f := range all {
		bundles, _ := total(ext(".zip"))
		_, bytes := total(evidence)
		if !evidence(f) || gone[f.name] {
			continue
		}
		stem := strings.TrimSuffix(f.name, filepath.Ext(f.name))
		withBundle := slices.ContainsFunc(all, func(g *known) bool { return g.match == f.match && g.name == stem+".zip" && !gone[g.name] })
		if k.BundleBytes > 0 && bytes > k.BundleBytes || k.Bundles > 0 && bundles > k.Bundles && withBundle || old(f) && !has[f.match] {
			for _, g := range all {
				gone[g.name] = gone[g.name] || g.match == f.match && strings.TrimSuffix(g.name, filepath.Ext(g.name)) == stem
			}
		}
	}
	for name, is := range gone {
		if !is {
			delete(gone, name)
		}
	}
	return gone
}

// check checks what holds after each step: what is to be kept is whole in one of its places, and nobody is given what was deleted.
func (p *play) check() {
	if p.faulty.blamed != "" {
		p.wrong("%s", p.faulty.blamed)
	}
	there := p.stored()
	for _, f := range p.files {
		if f.fate != alive {
			continue
		}
		if size, ok := there[f.name]; ok && size == f.size {
			continue
		}
		if info, err := os.Lstat(filepath.Join(p.live(f.home), f.name)); err != nil || info.Size() != f.size {
			p.wrong("%s, which nobody has deleted, is nowhere; the store has %v", f.name, there)
		}
	}
}

// settle lets both servers do all that they have to do, without faults.
func (p *play) settle() {
	p.faulty.away = false
	p.faulty.land()
	clear(p.faulty.refused)
	for range 3 {
		if !p.real { // what was asked before is done now
			time.Sleep(2 * time.Hour)
		}
		for who, a := range p.all {
			a.RetryRefused()
			for n := a.Waiting(); n > 0; n-- {
				if err := a.MoveNext(p.t.Context()); err != nil {
					p.wrong("at the end: move: %v", err)
				}
			}
			p.tidy(step{who: who})
			if _, err := a.Rebuild(p.t.Context()); err != nil {
				p.wrong("at the end: %v", err)
			}
			if n := a.Waiting(); n > 0 {
				p.wrong("at the end: %d files wait", n)
			}
		}
	}
}

// checkEnd checks what holds when there is nothing more to do.
func (p *play) checkEnd() {
	there := p.stored()
	whole := map[string]int{} // the number of files of matches that an admin deleted during a crash, by their number of files that are left
	for _, f := range p.files {
		_, inStore := there[f.name]
		_, err := os.Lstat(filepath.Join(p.live(f.home), f.name))
		if left := inStore || err == nil; f.fate == erased && left {
			p.wrong("%s is deleted, but in the store: %t, in the folder: %t", f.name, inStore, err == nil)
		} else if f.fate == unsure && left {
			whole[f.match] |= 1
		} else if f.fate == unsure {
			whole[f.match] |= 2
		}
		for who, a := range p.all {
			e, err := a.Get(p.t.Context(), f.name)
			if found := err == nil; found != inStore || found && (e.SizeBytes != f.size || !e.Stored || strings.HasSuffix(f.name, ".ssr") && e.Subjects[0] != f.match) {
				p.wrong("server %d: %s is in the store: %t, got %+v, %v", who, f.name, inStore, e, err)
			}
		}
	}
	for match, how := range whole {
		if how == 3 {
			p.wrong("%s: a part is deleted, and a part is left", match)
		}
	}
	for name := range there {
		if of, ok := strings.CutSuffix(name, ".json"); ok {
			if _, ok := there[of]; !ok && p.files[of].fate != lost { // that of a lost file stays for a day, as it may come back
				p.wrong("%s is left without its file", name)
			}
		}
	}
	for who := range p.all {
		if left, _ := os.ReadDir(p.live(who)); len(left) > 0 {
			p.wrong("server %d: %v is left in the folder", who, left)
		}
	}
}

// scriptLimits are the limits of a seed.
func scriptLimits(seed uint64) archive.Keep {
	return []archive.Keep{{}, {Replays: 3}, {Bytes: 9000}, {Bundles: 2}, {BundleBytes: 2500}, {Age: 12 * time.Hour}, {Replays: 4, Bytes: 12000, Bundles: 3, BundleBytes: 4000}}[seed%7]
}

// What the limits do not allow is the same as when the oldest are deleted one by one until it is enough.
func TestSurplus(t *testing.T) {
	a, err := archive.Open(archive.Options{Store: newMemory(), Index: filepath.Join(t.TempDir(), "index.db")})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(44, 1))
	for range 1500 {
		var all []*known
		for i := range 1 + r.IntN(7) {
			stem, ended := fmt.Sprintf("m%d-%08x", i, i), noon.Add(time.Duration(r.IntN(6))*time.Hour)
			add := func(name string) {
				all = append(all, &known{match: stem, name: name, size: int64(1 + r.IntN(9)), ended: ended})
			}
			hasReplay := r.IntN(5) > 0
			if hasReplay {
				add(stem + ".ssr")
			}
			for n := range r.IntN(3) {
				if r.IntN(4) > 0 {
					add(fmt.Sprintf("%s-desync-%d-tie.zip", stem, n))
					if f := all[len(all)-1]; hasReplay && r.IntN(5) == 0 {
						f.match = f.name // its ID is that of another match
					}
				}
				if r.IntN(2) > 0 {
					add(fmt.Sprintf("%s-desync-%d-tie.html", stem, n))
				}
			}
		}
		limit := func(n int) int { return max(r.IntN(2*n)-n, 0) }
		k := archive.Keep{
			Age: time.Duration(limit(6)) * time.Hour, Replays: limit(5), Bytes: int64(limit(20)), Bundles: limit(4), BundleBytes: int64(limit(20)),
		}
		now := noon.Add(5 * time.Hour)
		want := surplusOf(all, k, now) // and all is in order
		var files []archive.Stored
		for _, f := range all {
			s := archive.Stored{Name: f.name, Ended: f.ended, SizeBytes: f.size}
			if f.match == f.name {
				s.ID = "ffffffff"
			}
			files = append(files, s)
		}
		isReplay := func(f archive.Stored) int { return strings.Count(f.Name, ".ssr") }
		slices.SortStableFunc(files, func(a, b archive.Stored) int { return isReplay(b) - isReplay(a) }) // these say whose the ID is
		if got := a.Surplus(k, files, now); !maps.Equal(got, want) {
			t.Fatalf("%+v of %v: got %v, want %v", k, files, got, want)
		}
	}
}

// newPlay returns a play of two servers with one store.
func newPlay(t *testing.T, seed uint64, contents map[string][]byte, store archive.Store) *play {
	return &play{
		t: t, contents: contents, limits: scriptLimits(seed), keep: scriptLimits(seed), dir: t.TempDir(), store: store, files: map[string]*known{}, now: noon.Add(20 * time.Hour),
		faulty: &faulty{Store: store, refused: map[string]bool{}},
	}
}

// shrink returns a shorter script for which something is still wrong.
func shrink(script []step, wrong func([]step) string) []step {
	for i := len(script) - 1; i >= 0; i-- {
		shorter := slices.Delete(slices.Clone(script), i, i+1)
		if wrong(shorter) != "" {
			script = shorter
			continue
		}
		plain := slices.Clone(script)
		if plain[i].fault = works; script[i].fault != works && wrong(plain) != "" {
			script = plain
		}
	}
	return script
}

// A stage is where scripts run.
type stage struct {
	newStore func(t *testing.T) archive.Store
	real     bool          // with real time: the store is in a network
	sabotage func(p *play) // breaks something after each step
}

// runScripts runs the scripts of seeds, and returns what was wrong with the first for which something was, after it has logged a shorter one.
func runScripts(t *testing.T, seeds int, x stage) string {
	contents := make(map[string][]byte)
	for _, stem := range scriptNames {
		contents[stem] = matchOf(t, stem[len(stem)-8:])
	}
	for seed := range uint64(seeds) {
		run := func(script []step) (wrong string) {
			play := func(t *testing.T) {
				p := newPlay(t, seed, contents, x.newStore(t))
				p.real, p.shared = x.real, seed%2 == 1
				p.sabotage = x.sabotage
				wrong = p.run(script)
			}
			if x.real {
				play(t)
			} else {
				synctest.Test(t, play)
			}
			return wrong
		}
		script := randomScript(seed)
		wrong := run(script)
		if wrong == "" {
			continue
		}
		if x.sabotage == nil {
			script = shrink(script, run)
			for i, s := range script {
				t.Log(i, s)
			}
			wrong += "; shorter: " + run(script)
		}
		return fmt.Sprintf("seed %d, %+v: %s", seed, scriptLimits(seed), wrong)
	}
	return ""
}

func inMemory(*testing.T) archive.Store { return newMemory() }

// Two servers share a store that fails, hangs, lies, refuses, loses files and comes back, and crash between any two calls. What the
// limits allow is kept, and nothing more; what is deleted is gone with all that belongs to it, at once for who asks, and in the end from
// the store and the folders; and no file of another match is touched.
func TestScripts(t *testing.T) {
	seeds := 30
	if testenv.ByNight(t) {
		seeds = 1000
	}
	if wrong := runScripts(t, seeds, stage{newStore: inMemory}); wrong != "" {
		t.Fatal(wrong)
	}
}

// The same holds for a folder, and for object storage.
func TestScriptsInFolderAndCloud(t *testing.T) {
	folder := func(t *testing.T) archive.Store {
		f, err := archive.OpenFolder(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	cloud := func(t *testing.T) archive.Store {
		web := httptest.NewServer(bucket.New("league"))
		t.Cleanup(web.Close)
		s, err := s3.New(s3.Config{Bucket: "league", Prefix: "eu", Endpoint: web.URL, Region: "us-east-1", AccessKey: "key", SecretKey: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	for _, x := range []stage{{newStore: folder}, {newStore: cloud, real: true}} {
		if wrong := runScripts(t, 5, x); wrong != "" {
			t.Errorf("real time: %t: %s", x.real, wrong)
		}
	}
}

// Each thing that the scripts look for is found when it is broken on purpose.
func TestScriptsFind(t *testing.T) {
	remove := func(p *play, is func(name string) bool) {
		for _, name := range slices.Sorted(maps.Keys(p.stored())) {
			if is(name) {
				p.store.Delete(p.t.Context(), name)
				return
			}
		}
	}
	for what, x := range map[string]struct {
		sabotage func(p *play)
		want     string
	}{
		"a file of another match goes": {func(p *play) {
			if p.did.do == erase {
				remove(p, func(name string) bool { return p.files[name] != nil && p.files[name].fate == alive })
			}
		}, "which nobody has deleted, is nowhere"},
		"one deletion too few": {func(p *play) {
			p.keep.Replays, p.keep.Bytes, p.keep.Bundles = max(p.limits.Replays-1, 0), p.limits.Bytes*2/3, max(p.limits.Bundles-1, 0)
		}, "deleted map"},
		"one deletion too many": {func(p *play) { p.keep = archive.Keep{} }, "want it kept"},
		"a bundle of a deleted match comes back": {func(p *play) {
			for _, f := range p.files {
				if p.did.do == actions && f.fate == erased && filepath.Ext(f.name) == ".zip" { // before, a tombstone would keep it out
					p.store.Write(p.t.Context(), f.name, make([]byte, f.size))
				}
			}
		}, "is deleted, but"},
		"a description stays": {func(p *play) {
			for _, f := range p.files {
				if f.fate == erased {
					p.store.Write(p.t.Context(), f.name+".json", []byte("{}"))
				}
			}
		}, "is left without its file"},
		"the subjects are lost": {func(p *play) {
			if p.limits == (archive.Keep{}) { // or retention gets a wrong time of the end
				remove(p, func(name string) bool { return strings.HasSuffix(name, ".ssr.json") })
			}
		}, "is in the store: true, got"},
	} {
		if wrong := runScripts(t, 30, stage{newStore: inMemory, sabotage: x.sabotage}); !strings.Contains(wrong, x.want) {
			t.Errorf("%s: got %q, want %q", what, wrong, x.want)
		}
	}
}
