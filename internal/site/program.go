package site

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

// ErrOther is wrapped by the error of sources that are not those of the program.
var ErrOther = errors.New("site: the sources are not those of this program, which would play another match than its page: build it again")

// A newest is the file that was changed last.
type newest struct {
	name string
	at   time.Time
}

func (n *newest) see(name string) {
	if info, err := os.Stat(name); err == nil && info.ModTime().After(n.at) {
		n.name, n.at = name, info.ModTime()
	}
}

// dated is the time before which no file was really changed: builds that are the same each time give files an older one.
var dated = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// checkProgram refuses sources with a file that was changed after the program was built, unless the program has had the same sources
// before: the go command keeps programs, and git changes the times of files that it writes again.
func (b *build) checkProgram(key string) error {
	info, err := os.Stat(b.Program)
	if b.Program == "" || err != nil || info.ModTime().Before(dated) {
		return nil // nothing is known of it
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", b.Program, info.Size(), info.ModTime().UnixNano()))
	note := filepath.Join(b.Cache, "program-"+hex.EncodeToString(sum[:16]))
	if known, err := os.ReadFile(note); err == nil && string(known) == key {
		return nil
	}
	if b.newer.at.After(info.ModTime()) {
		return fmt.Errorf("%w: %s was changed at %s, and %s built at %s", ErrOther, b.newer.name, b.newer.at.Format(time.DateTime), filepath.Base(b.Program), info.ModTime().Format(time.DateTime))
	}
	os.WriteFile(note, []byte(key), 0o600) // without it, the times decide again
	return nil
}

// checkVersion refuses a module of which the program has another version.
func (b *build) checkVersion(m *listedModule) error {
	if info, ok := debug.ReadBuildInfo(); b.Program != "" && ok {
		return compareVersion(info, m)
	}
	return nil
}

func compareVersion(info *debug.BuildInfo, m *listedModule) error {
	version := m.Version
	if m.Replace != nil {
		version = m.Replace.Version
	}
	for _, own := range info.Deps {
		has := own.Version
		if own.Replace != nil {
			has = own.Replace.Version
		}
		if own.Path == m.Path && has != version {
			return fmt.Errorf("%w: they have %s %s, and this program %s", ErrOther, m.Path, version, has)
		}
	}
	return nil
}
