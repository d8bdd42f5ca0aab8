package line

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// ErrOther is wrapped by the error of a version that is neither a folder nor a git revision.
var ErrOther = errors.New("line: no such version")

// checkout returns a folder with another version of the sources in dir: a folder, or a git revision, whose files it writes there.
func checkout(dir, other, folder string) (string, error) {
	if info, err := os.Stat(other); err == nil && info.IsDir() {
		return other, nil
	}
	prefix, err := git(dir, "rev-parse", "--show-prefix")
	if err != nil {
		return "", fmt.Errorf("%w: %q is not a folder, and %s is not in a git repository", ErrOther, other, dir)
	}
	if _, err := git(dir, "rev-parse", "--verify", "--quiet", "--end-of-options", other+"^{commit}"); err != nil {
		return "", fmt.Errorf("%w: %q is neither a folder nor a git revision", ErrOther, other)
	}
	top, err := git(dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrOther, err)
	}
	files, err := git(string(bytes.TrimSpace(top)), "archive", "--format=tar", other)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrOther, err)
	}
	if err := untar(bytes.NewReader(files), folder); err != nil {
		return "", err
	}
	inner := strings.TrimSpace(string(prefix))
	return filepath.Join(folder, inner), anchor(strings.TrimSpace(string(top)), folder, inner)
}

// anchor makes folders outside of the repository at top, to which the go.mod of a checkout refers, absolute. inner is the module.
func anchor(top, folder, inner string) error {
	for filepath.IsLocal(inner) || inner == "" {
		if _, err := os.Stat(filepath.Join(folder, inner, "go.mod")); err == nil {
			break
		}
		if inner == "" || inner == "." {
			return nil // weave says that there is no module
		}
		inner = filepath.Dir(inner)
	}
	dir := filepath.Join(folder, inner)
	out, err := goOutput(dir, "mod", "edit", "-json")
	if err != nil {
		return err
	}
	var mod struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return err
	}
	args := []string{"mod", "edit"}
	for _, r := range mod.Replace {
		if r.New.Version != "" || filepath.IsAbs(r.New.Path) || filepath.IsLocal(filepath.Join(inner, r.New.Path)) {
			continue
		}
		old := r.Old.Path
		if r.Old.Version != "" {
			old += "@" + r.Old.Version
		}
		args = append(args, "-replace="+old+"="+filepath.Join(top, inner, r.New.Path))
	}
	if len(args) > 2 {
		_, err = goOutput(dir, args...)
	}
	return err
}

func git(dir string, args ...string) ([]byte, error) {
	c := exec.Command("git", args...)
	c.Dir = dir
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %s", args[0], bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

func goOutput(dir string, args ...string) ([]byte, error) {
	c := exec.Command("go", args...)
	c.Dir = dir
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("line: go %s: %s", strings.Join(args[:2], " "), bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// untar writes the files of an archive to a folder. Links are left out.
func untar(r io.Reader, folder string) error {
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) || h.Typeflag != tar.TypeReg {
			continue
		}
		path := filepath.Join(folder, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		b, err := io.ReadAll(t)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return err
		}
	}
}

// notes are what the reader should know about the sides. The lines of a note after its first one are commands, or flags.
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
		n.add("the replay was recorded with uncommitted changes on top of revision %s", recorder.Revision)
	}
	head, err := git(s.repo, "rev-parse", "HEAD")
	if wanted := recorder.Checkout(); wanted != "" && !s.checkedOut {
		switch _, lacks := exec.LookPath("git"); {
		case lacks != nil:
			n.add("git is not installed: cannot tell whether %s is revision %s, which recorded the replay", s.name, wanted)
		case err != nil:
			n.add("%s is not in a git repository: cannot tell whether it is revision %s, which recorded the replay", s.name, wanted)
		default:
			s.compareRevision(strings.TrimSpace(string(head)), recorder, &n)
		}
	}
	return n
}

// compareRevision notes if the working tree is not the revision that recorded the replay.
func (s *sourceTree) compareRevision(head string, recorder record.Sources, n *notes) {
	wanted, short := recorder.Checkout(), recorder.ShortCheckout()
	found, err := git(s.repo, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted+"^{commit}")
	if err != nil {
		n.add("the replay was recorded by revision %s, which this repository does not have\ngit fetch", wanted)
		return
	}
	revision := strings.TrimSpace(string(found))
	if other, err := git(s.repo, "rev-parse", "--verify", "--quiet", "--end-of-options", s.other+"^{commit}"); s.other != "" && err == nil && strings.TrimSpace(string(other)) == revision {
		return // it is side B
	}
	changed, err := git(s.repo, "status", "--porcelain", "--", ".")
	how := fmt.Sprintf("add the flag, or use the folder that the command makes\n--source %s\n%s", short, addWorktree(s.repo, short))
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

// addWorktree returns the command that gives a revision of the repository around a folder a folder of its own.
func addWorktree(dir, revision string) string {
	return fmt.Sprintf("git worktree add %s %s", words.ShellWord(worktree(dir, revision)), revision)
}

// worktree returns the folder that addWorktree's command makes: it is beside the repository.
func worktree(dir, revision string) string {
	up, err := git(dir, "rev-parse", "--show-cdup")
	if err != nil {
		up = nil
	}
	return strings.TrimSpace(string(up)) + "../" + worktreeName(dir) + "-" + revision
}

// AtRecorder returns the shell command that runs args with the game's program of the sources that recorded a bundle, in the repository around
// the current folder: in this working tree if it has these sources, and else in a folder of their own. own is the package of this
// program. Only a program of the recorder's module has the game; of another one, the command runs that of the module around the
// current folder. The program knows its revision, so it does not ask for itself again. A module that is not at the repository's top
// is in the same folder of it as the current one.
func AtRecorder(recorder record.Sources, own string, args ...string) string {
	if own != recorder.Module && !strings.HasPrefix(own, recorder.Module+"/") {
		own = gameProgram(".")
	}
	run := "go run -buildvcs=true " + words.ShellWord(own)
	for _, arg := range args {
		run += " " + words.ShellWord(arg)
	}
	revision := recorder.ShortCheckout()
	if isAt(".", revision) {
		return run
	}
	inner := ""
	if prefix, err := git(".", "rev-parse", "--show-prefix"); err == nil {
		inner = strings.TrimSuffix("/"+strings.TrimSpace(string(prefix)), "/")
	}
	return fmt.Sprintf("%s && (cd %s && %s)", addWorktree(".", revision), words.ShellWord(worktree(".", revision)+inner), run)
}

// isAt reports whether the working tree around a folder is a revision, without changes.
func isAt(dir, revision string) bool {
	head, err := git(dir, "rev-parse", "HEAD")
	if err != nil {
		return false
	}
	found, err := git(dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	changed, dirty := git(dir, "status", "--porcelain")
	return err == nil && dirty == nil && len(changed) == 0 && string(found) == string(head)
}

// gameProgram returns the only package main of the module around a folder; "." if there is not one.
func gameProgram(dir string) string {
	root, err := goOutput(dir, "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return "."
	}
	list, err := goOutput(strings.TrimSpace(string(root)), "list", "-find", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	if found := strings.Fields(string(list)); err == nil && len(found) == 1 {
		return found[0]
	}
	return "."
}

func worktreeName(dir string) string {
	top, err := git(dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "old"
	}
	return filepath.Base(strings.TrimSpace(string(top)))
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
		if revision := theirs.Checkout(); theirs.Module != "" && theirs.Module != recorder.Module && recorder.Module != "" {
			n.add("player %d played with module %s, the recorder with %s: compare with\n--other FOLDER", p.Player, theirs.Module, recorder.Module)
		} else if revision != "" && revision != recorder.Checkout() {
			n.add("player %d played with revision %s%s: compare with\n%s", p.Player, revision, changedText(theirs), strings.TrimSpace(flags(recorder, theirs)))
		} else if theirs.Modified && !recorder.Modified {
			n.add("player %d played with uncommitted changes on top of revision %s: compare with\n--other FOLDER", p.Player, revision)
		}
		mine, _, _ := strings.Cut(h.Platform, " ")
		if platform, _, _ := strings.Cut(p.Platform, " "); platform != mine && strings.Contains(platform, "/") {
			n.add("player %d played on %s, the recorder on %s: compare with\n--platform %s", p.Player, platform, mine, platform)
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
		if revision := theirs.Checkout(); p.Player == m.Player && !m.Tie && theirs.Module == recorder.Module && revision != "" && revision != recorder.Checkout() {
			return flags(recorder, theirs)
		}
	}
	return ""
}

// flags name the recorder's revision, if it is known, and another one.
func flags(recorder, other record.Sources) (text string) {
	if own := recorder.ShortCheckout(); own != "" {
		text = " --source " + own
	}
	return text + " --other " + other.ShortCheckout()
}

func changedText(s record.Sources) string {
	if s.Modified {
		return " and uncommitted changes"
	}
	return ""
}

// recordedBy adds to an error of the sources in a folder, which a flag can name, which module recorded the replay.
func recordedBy(h *lockstep.Header, dir, flag string, err error) error {
	sources := record.ParseSources(h.Sources)
	module, wrong := goOutput(dir, "list", "-m")
	here := strings.Fields(string(module)) // several in a workspace
	if wrong == nil && sources.Module != "" && slices.Contains(here, sources.Module) {
		return fmt.Errorf("%w; the replay was recorded by module %s", err, h.Sources)
	}
	of := fmt.Sprintf("game %q", h.Game)
	if sources.Module != "" {
		of = "module " + sources.Module
	}
	return fmt.Errorf("%w; it needs the Go sources of %s: run it in their folder, or name the folder with %s DIR", err, of, flag)
}
