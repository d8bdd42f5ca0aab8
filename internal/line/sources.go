package line

import (
	"archive/tar"
	"bytes"
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
	return filepath.Join(folder, strings.TrimSpace(string(prefix))), untar(bytes.NewReader(files), folder)
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
