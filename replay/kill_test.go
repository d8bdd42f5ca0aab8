//go:build unix

package replay_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

const killEnv = "SAMESTEP_KILL_FILE"

// Killing the process of a match loses at most one second of play. The remaining file is valid.
func TestKilled(t *testing.T) {
	if path := os.Getenv(killEnv); path != "" {
		playUntilKilled(t, path)
	}
	if testing.Short() {
		t.Skip("short: an emulated test cannot start itself again")
	}
	kills := []int{150, 257, 399} // ticks
	if testenv.Small(t) {
		kills = kills[:1]
	}
	for i, after := range kills {
		path := filepath.Join(t.TempDir(), "match.ssr")
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
		cmd.Env = append(os.Environ(), killEnv+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := lockstep.Tick(0)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if n, _ := fmt.Sscanf(lines.Text(), "tick %d", &said); n == 1 && int(said) == after {
				break
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		g, _ := newDots(t, lockstep.DefaultSettings(2))
		v := verifyBytes(t, g, file)
		if v.Differed > 0 || v.Ended || v.Ticks+killRate < said || v.Checked == 0 {
			t.Errorf("match %d, killed after tick %d: %+v", i, said, v)
		}
		t.Logf("killed after tick %d: %d are left", said, v.Ticks)
	}
}

const killRate = 100 // ticks per second

func playUntilKilled(t *testing.T, path string) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	s := lockstep.DefaultSettings(2)
	s.TickMicros, s.KeyframeEvery = lockstep.TickPeriod(killRate), 30
	g, h := newDots(t, s)
	c, err := coordinator.New(g, h, replay.NewWriter(f, replay.WriterOptions{}), coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("tick %d%s\n", c.Now(), strings.Repeat(" ", 10))
		time.Sleep(time.Millisecond) // sooner than real time
	}
}
