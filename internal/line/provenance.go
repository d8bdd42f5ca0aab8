package line

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// note adds what the reader should know about the sides.
func (s *search) note(format string, args ...any) {
	s.result.Notes = append(s.result.Notes, fmt.Sprintf(format, args...))
}

// compareSources notes how the sources differ from those of the programs that played the match, as far as the file tells.
func (s *search) compareSources(h *lockstep.Header) {
	recorder := record.ParseSources(h.Sources)
	if recorder.Modified {
		s.note("the replay was recorded by changed files of revision %s, which no repository has", recorder.Revision)
	}
	head, err := git(s.repo, "rev-parse", "HEAD")
	if wanted := revisionOf(recorder); wanted != "" && s.dir == s.repo {
		switch _, lacks := exec.LookPath("git"); {
		case lacks != nil:
			s.note("git is not installed: nothing tells whether %s is revision %s, which recorded the replay", s.Source, wanted)
		case err != nil:
			s.note("%s is in no git repository: nothing tells whether it is revision %s, which recorded the replay", s.Source, wanted)
		default:
			s.compareRevision(strings.TrimSpace(string(head)), wanted)
		}
	}
	if b := s.file.Bundle(); b != nil && s.Other == "" && s.Platform == "" {
		s.proposeSides(h, &b.Manifest)
	}
}

// compareRevision notes if the working tree is not the revision that recorded the replay.
func (s *search) compareRevision(head, wanted string) {
	found, err := git(s.repo, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted+"^{commit}")
	if err != nil {
		s.note("the replay was recorded by revision %s, which this repository does not have (git fetch)", wanted)
		return
	}
	revision := strings.TrimSpace(string(found))
	if other, err := git(s.repo, "rev-parse", "--verify", "--quiet", "--end-of-options", s.Other+"^{commit}"); s.Other != "" && err == nil && strings.TrimSpace(string(other)) == revision {
		return // it is side B
	}
	changed, err := git(s.repo, "status", "--porcelain", "--", ".")
	short := wanted[:min(shortRevision, len(wanted))]
	how := fmt.Sprintf("use --source %s, or git worktree add ../%s-%s %s", short, worktreeName(s.repo), short, short)
	switch dirty := err == nil && len(changed) > 0; {
	case head != revision && dirty:
		s.note("the replay was recorded by revision %s, and %s is at %s with changes: %s", short, s.Source, head[:shortRevision], how)
	case head != revision:
		s.note("the replay was recorded by revision %s, and %s is at %s: %s", short, s.Source, head[:shortRevision], how)
	case dirty:
		s.note("%s has changes since revision %s, which recorded the replay: %s", s.Source, short, how)
	}
}

// shortRevision is how many digits of a revision people get.
const shortRevision = 12

func worktreeName(dir string) string {
	top, err := git(dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "old"
	}
	return filepath.Base(strings.TrimSpace(string(top)))
}

// revisionOf returns what git knows the sources by: the revision, the one in a version that the go command made of it, or a
// tag; "" for none.
func revisionOf(s record.Sources) string {
	for _, text := range []string{s.Revision, s.Version} {
		if strings.HasPrefix(text, "-") || strings.ContainsFunc(text, func(r rune) bool {
			return !strings.ContainsRune("-+._/", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			return "" // nobody should type it
		}
	}
	if s.Revision != "" || s.Version == "" {
		return s.Revision
	}
	version := strings.TrimSuffix(s.Version, "+incompatible")
	if n := len(version) - shortRevision; n > 0 && version[n-1] == '-' && strings.Count(version, "-") >= 2 {
		return version[n:]
	}
	return version
}

// proposeSides notes in what the player's program differs from the recorder's.
func (s *search) proposeSides(h *lockstep.Header, m *replay.Manifest) {
	recorder := record.ParseSources(h.Sources)
	for i := range m.Participants {
		p := &m.Participants[i]
		if p.Player != m.Player && !m.Tie {
			continue
		}
		theirs := record.ParseSources(p.Sources)
		if revision := revisionOf(theirs); theirs.Module != "" && theirs.Module != recorder.Module && recorder.Module != "" {
			s.note("player %d played with module %s, the recorder with %s: compare with --other FOLDER", p.Player, theirs.Module, recorder.Module)
		} else if revision != "" && revision != revisionOf(recorder) {
			s.note("player %d played with revision %s%s: compare with --other %s", p.Player, revision, changedText(theirs), revision[:min(shortRevision, len(revision))])
		} else if theirs.Modified && !recorder.Modified {
			s.note("player %d played with changed files of revision %s, which no repository has: compare with --other FOLDER", p.Player, revision)
		}
		mine, _, _ := strings.Cut(h.Platform, " ")
		if platform, _, _ := strings.Cut(p.Platform, " "); platform != mine && strings.Contains(platform, "/") {
			s.note("player %d played on %s, the recorder on %s: compare with --platform %s", p.Player, platform, mine, platform)
		}
	}
}

func changedText(s record.Sources) string {
	if s.Modified {
		return " and changed files, which no repository has"
	}
	return ""
}

// compareModule notes if the rules that were found are in another module than those of the recorder.
func (s *search) compareModule(h *lockstep.Header, a *side) {
	module := record.ParseSources(h.Sources).Module
	if module == "" {
		return
	}
	for _, r := range a.source.Rules {
		if r.Package == module || strings.HasPrefix(r.Package, module+"/") {
			return
		}
	}
	s.note("the replay was recorded by module %s, and these rules are of package %s", module, a.source.Rules[0].Package)
}

// recordedBy adds to an error of the sources what the replay tells of them.
func recordedBy(h *lockstep.Header, err error) error {
	if h.Sources == "" {
		return err
	}
	return fmt.Errorf("%w; the replay was recorded by module %s", err, h.Sources)
}
