//go:build unix

package clustertool_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/alerting"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// An upgrade of the servers and mirrors of a cluster fires no alert: each server is stopped and started again while the other one has
// its matches, and then the mirror.
func TestUpgradeFiresNoAlert(t *testing.T) {
	testenv.Long(t)
	promtool, err := exec.LookPath("promtool")
	testenv.Or(t, "promtool", err)
	rules := alerting.Read(t, operations+"/alerts.yaml", operations+"/cluster-alerts.yaml")
	w := newWatch(t)
	w.history = alerting.NewHistory(rules)
	scrapes := func(n int) {
		for range n {
			w.scrape()
		}
	}
	nats, _ := w.node("a", "")
	mirror := func() (url string, stop func()) {
		url, stop = stoppable(t, "mirror at ", "mirror --listen 127.0.0.1:0 --nats "+nats)
		url = strings.TrimSuffix(url, "/")
		w.jobs[url] = "samestep-mirror"
		return url, stop
	}
	one, stopOne := w.server("one", nats, "--game minimal --set start=now --matches 2")
	two, stopTwo := w.server("two", nats, "--game minimal --matches 0")
	first, stopMirror := mirror()
	scrapes(wellScrapes)
	// upgrade stops a server, whose matches go to another one, and starts it again.
	upgrade := func(name, url, other string, stop func()) string {
		stop()
		delete(w.jobs, url)
		await(t, "the other server has the matches", func() bool { return w.value(other, `samestep_matches{state="playing"}`) == 2 })
		scrapes(3)
		url, _ = w.server(name, nats, "--game minimal --matches 0")
		scrapes(10)
		return url
	}
	one = upgrade("one", one, two, stopOne)
	upgrade("two", two, one, stopTwo)
	stopMirror()
	delete(w.jobs, first)
	scrapes(2)
	mirror()
	scrapes(10)
	if err := rules.Evaluate(t, promtool, w.history.Quiet("an upgrade")); err != nil {
		t.Error(err)
	}
}
