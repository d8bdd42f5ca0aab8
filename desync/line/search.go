package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Finder finds the lines of several files, and builds the probes once for all that have the same game.
type Finder struct {
	folder    string
	sides     map[[4]string]*side
	checkouts map[[2]string]string // folders by folder in a repository and version
	files     int
}

// NewFinder returns a Finder. It keeps its files in a temporary folder until [Finder.Close].
func NewFinder() (*Finder, error) {
	folder, err := os.MkdirTemp("", "samestep-line-")
	if err != nil {
		return nil, err
	}
	return finderIn(folder), nil
}

func finderIn(folder string) *Finder {
	return &Finder{folder: folder, sides: map[[4]string]*side{}, checkouts: map[[2]string]string{}}
}

// Close removes all files of the Finder.
func (x *Finder) Close() error { return os.RemoveAll(x.folder) }

// search returns a search in a file, with a folder of its own.
func (x *Finder) search(f *replay.File, o Options) (*search, error) {
	h, err := header(f)
	if err != nil {
		return nil, err
	}
	if o.Source == "" {
		o.Source = "."
	}
	x.files++
	s := &search{Options: o, file: f, head: h, finder: x, named: o.Tick > 0, folder: filepath.Join(x.folder, "file-"+strconv.Itoa(x.files)), result: &Result{}}
	return s, os.Mkdir(s.folder, 0o700)
}

// header returns the header of a match that the rules can compute.
func header(f *replay.File) (*lockstep.Header, error) {
	h, err := f.Header()
	if err == nil && h.Engine == replay.ForeignEngine {
		return nil, errors.New("line: the match cannot be computed: it was imported from another engine")
	}
	return h, err
}

// side returns a side, which an earlier file may have built.
func (x *Finder) side(name, dir, platform, game string) *side {
	key := [4]string{name, dir, platform, game}
	one := x.sides[key]
	if one == nil {
		one = &side{name: name, dir: dir, folder: filepath.Join(x.folder, "side-"+strconv.Itoa(len(x.sides)))}
		x.sides[key] = one
	}
	return one
}

// checkout is the function checkout, once for each version.
func (x *Finder) checkout(repo, version string) (dir string, err error) {
	key := [2]string{repo, version}
	if dir, ok := x.checkouts[key]; ok {
		return dir, nil
	}
	dir, err = checkout(repo, version, filepath.Join(x.folder, "checkout-"+strconv.Itoa(len(x.checkouts))))
	if err == nil {
		x.checkouts[key] = dir
	}
	return dir, err
}

// compareModule notes if the rules found are not in the recorder's module.
func compareModule(h *lockstep.Header, a *side) (n notes) {
	module := record.ParseSources(h.Sources).Module
	if module == "" {
		return nil
	}
	for _, r := range a.source.Rules {
		if r.Package == module || strings.HasPrefix(r.Package, module+"/") {
			return nil
		}
	}
	n.add("the replay was recorded by module %s, and these rules are of package %s", module, a.source.Rules[0].Package)
	return n
}

// A search is the work of Find.
type search struct {
	Options
	file   *replay.File
	head   *lockstep.Header
	finder *Finder
	dir    string // the sources of side A
	repo   string // a folder in their repository, if they have one
	folder string
	assets string
	named  bool // the caller has named the tick
	result *Result
	ran    [2]map[int]bool // the probes that ran on the sides before the finding; nil without one

	innocent map[int]bool // sites that are passed over, if others differ; nil if not known
}

// prepare finds the sources of side A, and the assets.
func (s *search) prepare() error {
	s.repo = s.Source // it may be a revision of the repository around the current folder
	if info, err := os.Stat(s.Source); err != nil || !info.IsDir() {
		s.repo = "."
	}
	var err error
	if s.dir, err = s.finder.checkout(s.repo, s.Source); err != nil {
		return err
	}
	tree := sourceTree{s.Source, s.repo, s.dir != s.repo, s.Other}
	s.result.Notes = tree.compare(s.head)
	return s.writeAssets()
}

// writeAssets writes the assets of the match to a folder for the programs.
func (s *search) writeAssets() error {
	if len(s.List) == 0 || s.Assets == nil {
		return nil
	}
	s.assets = filepath.Join(s.folder, "assets")
	if err := os.MkdirAll(s.assets, 0o700); err != nil {
		return err
	}
	for _, a := range s.List {
		b, err := s.Assets(a)
		if err == nil {
			err = os.WriteFile(filepath.Join(s.assets, a.SHA256), b, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *search) side(name, dir string) *side {
	return s.finder.side(name, dir, s.Platform, s.head.Game)
}

func (s *search) build(ctx context.Context, sides ...*side) error {
	from := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for _, one := range sides {
		if one.binary != "" {
			continue // for another file
		}
		group.Go(func() error {
			if one.failed == nil {
				one.failed = one.build(ctx, s.head.Game)
			}
			if err := one.failed; err != nil {
				flag := "--source"
				if one.dir != s.dir {
					flag = "--other"
				}
				return recordedBy(s.head, one.dir, flag, err)
			}
			return nil
		})
	}
	err := group.Wait()
	s.result.BuildSeconds = time.Since(from).Seconds()
	if err == nil {
		s.result.Probes = len(sides[0].source.Sites)
		s.result.Notes = append(s.result.Notes, compareModule(s.head, sides[0])...)
	}
	return err
}

// log writes the records from the last keyframe up to a tick to a file, with what follows up to another tick.
func (s *search) log(name string, from, last lockstep.Tick) (string, error) {
	r, err := s.file.Reader()
	if err != nil {
		return "", err
	}
	if _, err := r.Seek(from); err != nil {
		return "", err
	}
	path := filepath.Join(s.folder, name)
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer out.Close()
	for {
		one, err := r.Next()
		if one == nil || err != nil {
			if errors.As(err, new(*replay.DamageError)) || err == nil || errors.Is(err, io.EOF) {
				return path, out.Close() // a torn replay is good up to there
			}
			return "", err
		}
		if _, err := out.Write(r.Record()); err != nil {
			return "", err
		}
		if last > 0 && one.Tick >= last && one.Kind != record.KindKeyframe {
			return path, out.Close()
		}
	}
}

// pair runs the jobs of two sides concurrently.
func (s *search) pair(ctx context.Context, name string, sides [2]*side, jobs [2]program.Job, env ...string) (done [2]*job, err error) {
	from := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for i := range sides {
		group.Go(func() (err error) {
			done[i], err = sides[i].run(ctx, name+sides[i].name, jobs[i], env...)
			return err
		})
	}
	err = group.Wait()
	s.result.RunSeconds += time.Since(from).Seconds()
	return done, err
}

// sums are the checksums of a bundle by tick.
type sums struct {
	manifest        *replay.Manifest
	most            string                   // who has the agreed checksum: "the referee", or "most players"
	referee, player map[lockstep.Tick]uint64 // looked up by tick
	right           bool                     // the player's machine computed the ticks again, and rightly
	changing        bool                     // and with different results
}

// readSums returns the checksums of a bundle, without those that cannot be parsed.
func readSums(m *replay.Manifest) *sums {
	s := &sums{manifest: m, most: "most players", referee: map[lockstep.Tick]uint64{}, player: map[lockstep.Tick]uint64{}}
	add := func(to map[lockstep.Tick]uint64, t lockstep.Tick, text string) {
		if h, err := checksum.ParseHash(text); err == nil {
			to[t] = h
		}
	}
	for i := range m.Groups {
		if g := &m.Groups[i]; i == 0 { // the agreed one, since there is a majority
			if g.Referee {
				s.most = "the referee"
			}
			add(s.referee, m.Tick, g.Checksum)
		} else if slices.Contains(g.Players, m.Player) {
			add(s.player, m.Tick, g.Checksum)
		}
	}
	a := m.Resimulation
	if a == nil || len(a.Runs) == 0 {
		return s
	}
	for _, run := range a.Runs[1:] {
		s.changing = s.changing || !slices.Equal(run, a.Runs[0])
	}
	for i, text := range a.Right {
		add(s.referee, a.From+1+lockstep.Tick(i), text)
	}
	first, known := s.player[m.Tick]
	for i, text := range a.Runs[0] {
		if t := a.From + 1 + lockstep.Tick(i); t <= m.Tick && !s.changing {
			add(s.player, t, text)
		}
	}
	if again := s.player[m.Tick]; known && again != first {
		s.right, s.player = true, map[lockstep.Tick]uint64{m.Tick: first}
	}
	return s
}

// reproduced compares the state hashes of a side, from that of a tick on, with the checksums.
func (s *sums) reproduced(first lockstep.Tick, hashes []uint64) (r Reproduce) {
	same := func(known map[lockstep.Tick]uint64) (bool, lockstep.Tick) {
		for _, t := range slices.Sorted(maps.Keys(known)) {
			if t < first || int64(t-first) >= int64(len(hashes)) || hashes[t-first] != known[t] {
				return false, t
			}
		}
		return len(known) > 0, 0
	}
	var notReferee, notPlayer lockstep.Tick
	r.Referee, notReferee = same(s.referee)
	r.Player, notPlayer = same(s.player)
	if !r.Referee && !r.Player {
		r.Differs = max(notReferee, notPlayer)
	}
	return r
}

// report compares sides with the checksums. names are those of the sides.
func (s *sums) report(names []string, sides []Reproduce) *Reported {
	r := &Reported{Ticks: len(s.player), Sides: sides}
	say := func(format string, args ...any) { r.Text = append(r.Text, fmt.Sprintf(format, args...)) }
	byPlayer, byReferee, who := -1, -1, fmt.Sprintf("player %d", s.manifest.Player)
	for i, one := range sides {
		switch {
		case one.Referee && one.Player:
			say("%s computes what %s and %s both had", names[i], s.most, who)
		case one.Referee:
			say("%s computes what %s had", names[i], s.most)
		case one.Player:
			say("%s computes what %s sent", names[i], who)
		default:
			say("%s computes neither what %s had nor what %s sent, up to tick %d", names[i], s.most, who, one.Differs)
		}
		if one.Player {
			byPlayer = i
		}
		if one.Referee {
			byReferee = i
		}
	}
	said := len(r.Text)
	switch {
	case s.changing && len(sides) == 1:
		say("%s computed the ticks again with different results: its rules are not deterministic", who)
	case s.changing:
		say("%s computed the ticks again with different results: its rules are not deterministic, so look without another version or platform", who)
	case s.right:
		say("%s recomputed the ticks correctly: its version does not always differ", who)
	case len(s.player) == 0:
	case byPlayer < 0 && len(sides) == 2:
		say("neither side computes what %s sent: the other version is not the player's, and what follows is not its desync", who)
	case byPlayer < 0:
		r.Next = "compare with the version or the platform of " + who
	case byReferee < 0 && len(sides) == 2:
		say("neither side computes what %s had: compare the version of %s with the one that recorded the match", s.most, who)
	case len(sides) == 1:
		r.Next = "compare with the version or the platform of " + s.most
	}
	if len(sides) == 2 && len(r.Text) > said {
		r.Doubt = r.Text[said]
	}
	return r
}

// reported compares what the sides have computed with a bundle, if the file is one.
func (s *search) reported(jobs ...*job) error {
	b := s.file.Bundle()
	if b == nil {
		return nil
	}
	var all [][]uint64
	for _, j := range jobs {
		hashes, err := j.hashes()
		if err != nil {
			return err
		}
		all = append(all, hashes)
	}
	s.result.Reported = reportOn(&b.Manifest, lockstep.Tick(jobs[0].result.First), all...)
	return nil
}

// reportOn compares the state hashes of sides with a bundle. It returns nil for a tie, a twin or a panic, where no single player differs.
func reportOn(m *replay.Manifest, first lockstep.Tick, hashes ...[]uint64) *Reported {
	if m.Tie || m.Panic != nil || m.Twin != nil {
		return nil
	}
	known := readSums(m)
	var sides []Reproduce
	for _, one := range hashes {
		sides = append(sides, known.reproduced(first, one))
	}
	names := []string{"A", "B"}
	if len(sides) == 1 {
		names = []string{"this version"}
	}
	return known.report(names, sides)
}
