//go:build !js && !wasip1

package farm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// Workers are killed in the middle of their work, and the storage goes away: each file has exactly one result.
func TestKills(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	files := matches(t, 100)
	c.submit(folder(t, files))
	env := []string{urlEnv + "=" + c.node.URL(), ackWaitEnv + "=" + seconds(0.6), slowEnv + "=" + seconds(0.03)}
	var workers []*process
	for range 3 {
		workers = append(workers, startProcess(t, "worker", env...))
	}
	for kill := range 6 {
		time.Sleep(150 * time.Millisecond)
		if kill == 3 {
			c.restart(200 * time.Millisecond)
			continue
		}
		workers[kill%3].kill()
		workers[kill%3] = startProcess(t, "worker", env...)
	}
	again := 0
	got := c.results(40 * time.Second)
	for name := range files {
		r := got["farm/"+name]
		if r.Class != replay.ClassOK {
			t.Errorf("%s: got %+v", name, r)
		}
		if r.Deliveries > 1 {
			again++
		}
	}
	if n := c.written(); len(got) != len(files) || n != len(files) {
		t.Errorf("got %d results, written %d times, want %d", len(got), n, len(files))
	}
	if again == 0 {
		t.Error("no job was delivered twice: the kills met no worker at work")
	}
}

// A file that kills its worker is set aside after MaxDeliver deaths.
func TestDeadlyFile(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	files := matches(t, 10)
	files["deadly.ssr"] = dots.Rewrite(t, match(t, 50), func(r *record.Record) {
		if r.Kind == record.KindHeader {
			r.Header.Match = deadly
		}
	})
	c.submit(folder(t, files))
	env := []string{urlEnv + "=" + c.node.URL(), ackWaitEnv + "=" + seconds(0.3)}
	stop, ended := make(chan struct{}), make(chan struct{})
	deaths := 0
	go func() { // a service manager
		defer close(ended)
		for {
			w := startProcess(t, "worker", env...)
			died := make(chan struct{})
			go func() {
				w.Wait()
				close(died)
			}()
			select {
			case <-died:
				deaths++
			case <-stop:
				w.Process.Kill()
				<-died
				return
			}
		}
	}()
	got := c.results(30 * time.Second)
	close(stop)
	<-ended
	if r := got["farm/deadly.ssr"]; r.Class != farm.ClassPoison || !strings.Contains(r.Error, "5 workers started on the file and none finished") || r.Deliveries != 6 || deaths != 5 {
		t.Errorf("got %+v after %d deaths", r, deaths)
	}
	for name := range files {
		if r := got["farm/"+name]; r.Class != replay.ClassOK && name != "deadly.ssr" {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}
