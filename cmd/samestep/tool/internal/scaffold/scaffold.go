// Package scaffold writes the module of a new game. Its files are a game that is compiled and tested with the engine.
package scaffold

import (
	"embed"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/scaffold/rules"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

//go:embed README.md ci.yml gitignore program/main.go rules/*.go
var files embed.FS

// places are the folders and names that files have in the new module, if they are others.
var places = map[string]string{"ci.yml": ".github/workflows/ci.yml", "gitignore": ".gitignore", "program/main.go": "main.go"}

const (
	engine  = "github.com/seed-49bee653/samestep"
	sample  = engine + "/cmd/samestep/tool/internal/scaffold/rules"
	gameWas = `"goldrush"`
)

var validName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

// Options describe a new module.
type Options struct {
	Dir     string // is made; it may exist if it is empty
	Name    string // of the game; its module is example.com/NAME
	Version string // of the engine; with Replace it does not matter
	Replace string // folder of a checkout of the engine; empty for none
}

// Write writes the module, without go.sum.
func Write(o Options) error {
	if !validName.MatchString(o.Name) {
		return fmt.Errorf("the name of a game: got %q, want small letters, digits and -, such as my-game", o.Name)
	}
	if old, err := os.ReadDir(o.Dir); err == nil && len(old) > 0 {
		return fmt.Errorf("%s: got a folder with files, want a new or an empty one", o.Dir)
	}
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		if place, ok := places[path]; ok {
			path = place
		}
		text := strings.NewReplacer(sample, o.path()+"/rules", gameWas, fmt.Sprintf("%q", o.Name), "GAME", o.Name).Replace(string(b))
		if filepath.Ext(path) == ".go" { // the module's own path comes before that of the engine in imports
			formatted, err := format.Source([]byte(text))
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			text = string(formatted)
		}
		return write(filepath.Join(o.Dir, filepath.FromSlash(path)), text)
	})
	if err == nil {
		err = write(filepath.Join(o.Dir, "go.mod"), o.module())
	}
	if err != nil {
		return err
	}
	return o.golden()
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// path returns the path of the module. An author changes it with go mod edit when the module gets a home.
func (o *Options) path() string { return "example.com/" + o.Name }

// module returns go.mod.
func (o *Options) module() string {
	version := o.Version
	if version == "" {
		version = "v0.0.0"
	}
	text := fmt.Sprintf("module %s\n\ngo 1.26.0\n\nrequire %s %s\n", o.path(), engine, version)
	if o.Replace != "" {
		text += fmt.Sprintf("\nreplace %s => %s\n", engine, o.Replace)
	}
	return text
}

// golden adds the golden match of the first build.
func (o *Options) golden() error {
	r := rules.Rules()
	r.Name = o.Name
	g, err := lockstep.NewGame(r)
	if err != nil {
		return err
	}
	usual := rules.Usual(4)
	play := func(p lockstep.Player, s *lockstep.Simulation) []any { return rules.NewBot(p, 0)(s) }
	_, err = locksteptest.AddGolden(g, locksteptest.GoldenOptions{Config: &usual, Play: play, Dir: filepath.Join(o.Dir, "rules", "testdata", "golden")})
	return err
}
