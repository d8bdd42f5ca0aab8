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
	"strings"
)

// ErrOther is wrapped by the error of a version that is neither a folder nor a git revision.
var ErrOther = errors.New("line: no such version")

// checkout returns a folder with another version of the sources in dir: other is a folder, or a git revision, whose files it
// writes to a folder. The working tree and the repository stay as they are.
func checkout(dir, other, folder string) (string, error) {
	if info, err := os.Stat(other); err == nil && info.IsDir() {
		return other, nil
	}
	prefix, err := git(dir, "rev-parse", "--show-prefix")
	if err != nil {
		return "", fmt.Errorf("%w: %q is no folder, and %s is in no git repository", ErrOther, other, dir)
	}
	if _, err := git(dir, "rev-parse", "--verify", "--quiet", "--end-of-options", other+"^{commit}"); err != nil {
		return "", fmt.Errorf("%w: %q is no folder and no git revision", ErrOther, other)
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

// anchor makes the folders outside of the repository, which the go.mod of a checkout names relative to it, absolute. top is the
// repository, and inner a folder in the module.
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
