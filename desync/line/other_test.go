package line

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A version is a folder or a git revision, also from a folder inside of the repository.
func TestCheckout(t *testing.T) {
	_, err := exec.LookPath("git")
	testenv.Or(t, "git", err)
	repo := t.TempDir()
	inner := filepath.Join(repo, "game")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(inner, "a.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"}, {"tag", "v1"}} {
		if _, err := git(repo, args...); err != nil {
			t.Fatal(err)
		}
	}
	write("new")
	dir, err := checkout(inner, "v1", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || string(b) != "old" {
		t.Errorf("got %q, %v, want the text of v1", b, err)
	}
	if dir, err := checkout(inner, inner, t.TempDir()); err != nil || dir != inner {
		t.Errorf("got %q, %v", dir, err)
	}
	for _, other := range []string{"v2", "--help", ""} {
		if _, err := checkout(inner, other, t.TempDir()); !errors.Is(err, ErrOther) {
			t.Errorf("%q: got %v", other, err)
		}
	}
}

func TestPlatform(t *testing.T) {
	for _, bad := range []string{"js", "plan9/amd64", "linux/riscv65"} {
		if _, _, err := platform(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestText(t *testing.T) {
	r := &Result{
		Mode: Versions, Sides: [2]string{".", "v1"}, Tick: 78, Fields: []Field{{"Units[0].Cooldown", [2]string{"16", "17"}}},
		Finding: &Finding{
			Reason: Value, Text: "u.Cooldown = 17", Entity: "Unit 1", Values: [2]string{"16", "17"},
			Where:   [2]*Place{{"a.go", 10, "hold.hit", "u.Cooldown = 16"}, {"a.go", 14, "hold.hit", "u.Cooldown = 17"}},
			Path:    []Place{{"a.go", 2, "hold.step", "hit(u)"}, {"a.go", 14, "hold.hit", "u.Cooldown = 17"}},
			Written: &Place{"b.go", 3, "hold.x", "y = 1"}, WrittenTick: 70,
			Writes: []Write{{Place{"a.go", 14, "hold.hit", ""}, "Cooldown", "", "Unit 1", [2]string{"16", ""}, true}},
		},
	}
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const want = `sides      A: .
           B: v1
diverged   at tick 78
state      Units[0].Cooldown: 16 | 17
line       a.go:14  in hold.hit
               u.Cooldown = 17
           on A: a.go:10
               u.Cooldown = 16
because    u.Cooldown = 17 is 16 | 17
entity     Unit 1
written by b.go:3 in tick 70  y = 1
called     hold.hit at a.go:14
           hold.step at a.go:2
then       a.go:14  Unit 1 Cooldown: 16 | –  <- the field that differs
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}
