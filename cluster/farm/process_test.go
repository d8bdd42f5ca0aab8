//go:build !js && !wasip1

package farm_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// The environment of a process that is this test program in another role.
const (
	roleEnv    = "FARM_ROLE"    // worker or node
	urlEnv     = "FARM_URL"     // of the node
	dirEnv     = "FARM_DIR"     // of the node's files
	ackWaitEnv = "FARM_ACKWAIT" // of the worker
	slowEnv    = "FARM_SLOW"    // time that each file takes longer
)

// deadly is the match that kills its worker.
var deadly = lockstep.MatchID{99}

// A process is a worker or a node in a process of its own.
type process struct {
	*exec.Cmd
	url string // of a node
}

// startProcess starts this test program in a role, and waits until it says that it is ready.
func startProcess(t testing.TB, role string, env ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(exe)}
	p.Env = append(os.Environ(), append(env, roleEnv+"="+role)...)
	p.Stderr = os.Stderr
	if _, err = p.StdinPipe(); err != nil { // it ends with this program
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	if p.url, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p.url = p.url[:len(p.url)-1]
	return p
}

// kill ends the process at once, as a crash does.
func (p *process) kill() {
	p.Process.Kill()
	p.Wait()
}

// runRole is the main function of such a process.
func runRole(role string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	run := map[string]func(context.Context) error{"worker": workerRole, "node": nodeRole}[role]
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, role, err)
		return 1
	}
	return 0
}

func workerRole(ctx context.Context) error {
	runtime.GOMAXPROCS(1)
	conn, err := storage.Dial(os.Getenv(urlEnv), storage.DialOptions{Name: "worker"})
	if err != nil {
		return err
	}
	defer conn.Close()
	wait, err := time.ParseDuration(os.Getenv(ackWaitEnv))
	if err != nil {
		return err
	}
	slow, _ := time.ParseDuration(os.Getenv(slowEnv))
	fmt.Println("ready")
	return farm.Work(ctx, conn, farm.WorkerOptions{Build: build, Jobs: 1, AckWait: wait, MaxDeliver: 5, Game: func(f *replay.File) (*lockstep.Game, error) {
		if h, _ := f.Header(); h.Match == deadly {
			os.Exit(9)
		}
		time.Sleep(slow)
		return dotsGame(f)
	}})
}

func nodeRole(ctx context.Context) error {
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: os.Getenv(dirEnv), Listen: os.Getenv(urlEnv)})
	if err != nil {
		return err
	}
	defer node.Stop()
	fmt.Println(node.URL())
	<-ctx.Done()
	return nil
}

// seconds formats a time for the environment.
func seconds(s float64) string { return strconv.FormatFloat(s, 'f', -1, 64) + "s" }
