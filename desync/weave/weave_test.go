package weave

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The woven copies of skirmish compile.
func TestSkirmishCompiles(t *testing.T) {
	s, err := Read(Options{Dir: filepath.Join("..", ".."), Game: "skirmish"})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s.Rules, len(s.reached))
	dir := t.TempDir()
	if d := os.Getenv("KEEP"); d != "" {
		dir = d
	}
	p, err := s.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(len(s.Sites), p)
	c := exec.Command("go", "build", "-trimpath", "-overlay", p.Overlay, "-o", filepath.Join(dir, "program"), p.Package)
	c.Dir = p.Dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
