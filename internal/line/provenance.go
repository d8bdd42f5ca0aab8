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

// notes are what the reader should know about the sides.
type notes []string

func (n *notes) add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// A sourceTree is the sources of side A, as somebody has named them.
type sourceTree struct {
	name       string
	repo       string // a folder in their repository, if they have one
	checkedOut bool   // name is a revision of the repository, and not what is in its working tree
	other      string // what side B is; "" if it is no other version
}

// compare says how the sources differ from those of the recorder, as far as the file tells.
func (s *sourceTree) compare(h *lockstep.Header) (n notes) {
	recorder := record.ParseSources(h.Sources)
	if recorder.Modified {
		n.add("the replay was recorded by changed files of revision %s, which no repository has", recorder.Revision)
	}
	head, err := git(s.repo, "rev-parse", "HEAD")
	if wanted := revisionOf(recorder); wanted != "" && !s.checkedOut {
		switch _, lacks := exec.LookPath("git"); {
		case lacks != nil:
			n.add("git is not installed: nothing tells whether %s is revision %s, which recorded the replay", s.name, wanted)
		case err != nil:
			n.add("%s is in no git repository: nothing tells whether it is revision %s, which recorded the replay", s.name, wanted)
		default:
			s.compareRevision(strings.TrimSpace(string(head)), wanted, &n)
		}
	}
	return n
}

// compareRevision notes if the working tree is not the revision that recorded the replay.
func (s *sourceTree) compareRevision(head, wanted string, n *notes) {
	found, err := git(s.repo, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted+"^{commit}")
	if err != nil {
		n.add("the replay was recorded by revision %s, which this repository does not have (git fetch)", wanted)
		return
	}
	revision := strings.TrimSpace(string(found))
	if other, err := git(s.repo, "rev-parse", "--verify", "--quiet", "--end-of-options", s.other+"^{commit}"); s.other != "" && err == nil && strings.TrimSpace(string(other)) == revision {
		return // it is side B
	}
	changed, err := git(s.repo, "status", "--porcelain", "--", ".")
	short := wanted[:min(shortRevision, len(wanted))]
	how := fmt.Sprintf("use --source %s, or git worktree add ../%s-%s %s", short, worktreeName(s.repo), short, short)
	switch dirty := err == nil && len(changed) > 0; {
	case head != revision && dirty:
		n.add("the replay was recorded by revision %s, and %s is at %s with changes: %s", short, s.name, head[:shortRevision], how)
	case head != revision:
		n.add("the replay was recorded by revision %s, and %s is at %s: %s", short, s.name, head[:shortRevision], how)
	case dirty:
		n.add("%s has changes since revision %s, which recorded the replay: %s", s.name, short, how)
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

// proposeSides says in what the player's program differs from the recorder's.
func proposeSides(h *lockstep.Header, m *replay.Manifest) (n notes) {
	recorder := record.ParseSources(h.Sources)
	for i := range m.Participants {
		p := &m.Participants[i]
		if p.Player != m.Player && !m.Tie {
			continue
		}
		theirs := record.ParseSources(p.Sources)
		if revision := revisionOf(theirs); theirs.Module != "" && theirs.Module != recorder.Module && recorder.Module != "" {
			n.add("player %d played with module %s, the recorder with %s: compare with --other FOLDER", p.Player, theirs.Module, recorder.Module)
		} else if revision != "" && revision != revisionOf(recorder) {
			n.add("player %d played with revision %s%s: compare with%s", p.Player, revision, changedText(theirs), flags(recorder, revision))
		} else if theirs.Modified && !recorder.Modified {
			n.add("player %d played with changed files of revision %s, which no repository has: compare with --other FOLDER", p.Player, revision)
		}
		mine, _, _ := strings.Cut(h.Platform, " ")
		if platform, _, _ := strings.Cut(p.Platform, " "); platform != mine && strings.Contains(platform, "/") {
			n.add("player %d played on %s, the recorder on %s: compare with --platform %s", p.Player, platform, mine, platform)
		}
	}
	return n
}

// Revisions returns the flags with which desync line compares the revision that recorded a bundle with that of the player who
// differed, such as " --source 3b18e512dba7 --other a1b2c3d4e5f6"; "" if the bundle does not tell two.
func Revisions(h *lockstep.Header, m *replay.Manifest) string {
	recorder := record.ParseSources(h.Sources)
	for i := range m.Participants {
		p := &m.Participants[i]
		theirs := record.ParseSources(p.Sources)
		if revision := revisionOf(theirs); p.Player == m.Player && !m.Tie && theirs.Module == recorder.Module && revision != "" && revision != revisionOf(recorder) {
			return flags(recorder, revision)
		}
	}
	return ""
}

// flags name the recorder's revision, if it is known, and another one.
func flags(recorder record.Sources, other string) (text string) {
	if own := revisionOf(recorder); own != "" {
		text = " --source " + own[:min(shortRevision, len(own))]
	}
	return text + " --other " + other[:min(shortRevision, len(other))]
}

func changedText(s record.Sources) string {
	if s.Modified {
		return " and changed files, which no repository has"
	}
	return ""
}

// compareModule says if the rules that were found are in another module than those of the recorder.
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

// recordedBy adds to an error of the sources what the replay tells of them.
func recordedBy(h *lockstep.Header, err error) error {
	if h.Sources == "" {
		return err
	}
	return fmt.Errorf("%w; the replay was recorded by module %s", err, h.Sources)
}
