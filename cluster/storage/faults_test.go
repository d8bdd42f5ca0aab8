package storage

import (
	"strings"
	"testing"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
)

// Each fault has its advice, and a storage that is well has none.
func TestFaults(t *testing.T) {
	node := func(name string, copies int) NodeStatus {
		return NodeStatus{Name: name, Member: true, Alive: true, Copies: copies, Free: 1 << 40}
	}
	dead := func(name string) NodeStatus {
		n := node(name, 1)
		n.Alive, n.Unseen = false, 90*time.Second
		return n
	}
	full := func(name string) NodeStatus {
		n := node(name, 1)
		n.Free = 1 << 20
		return n
	}
	broken, gone := node("b", 1), node("d", 0)
	broken.Problem, gone.Member = "a reason", false
	stream := func(copies ...Copy) []Stream { return []Stream{{Name: "s", Replicas: 3, Leader: "a", Copies: copies}} }
	b, c := Copy{Node: "b", Current: true}, Copy{Node: "c", Current: true}
	for _, x := range []struct {
		name    string
		lost    bool // the majority
		nodes   []NodeStatus
		streams []Stream
		want    []string // what, and the verb or the first words to do, of each fault
	}{
		{"well", false, []NodeStatus{node("a", 1), node("b", 1), node("c", 1)}, stream(b, c), nil},
		{"a busy copy is behind", false, []NodeStatus{node("a", 1), node("b", 1), node("c", 1)}, stream(b, Copy{Node: "c", Behind: maxBehind}), nil},
		{"a copy is far behind", false, []NodeStatus{node("a", 1), node("b", 1), node("c", 1)}, stream(b, Copy{Node: "c", Behind: maxBehind + 1}), []string{"1 copies of 1 streams are missing => wait"}},
		{"a copy is offline", false, []NodeStatus{node("a", 1), node("b", 1), node("c", 1)}, stream(b, Copy{Node: "c", Offline: true, Behind: 1}), []string{"1 copies of 1 streams are missing => wait"}},
		{"a copy has not begun", false, []NodeStatus{node("a", 1), node("b", 1), node("c", 1)}, stream(b, Copy{Node: "c"}), []string{"1 copies of 1 streams are missing => wait"}},
		{"too few nodes", false, []NodeStatus{node("a", 1), node("b", 1)}, stream(b), []string{"1 copies of 1 streams are missing => start another node: 2 live, and streams should have 3"}},
		{"no majority", true, []NodeStatus{node("a", 1), dead("b"), dead("c")}, nil, []string{"no majority of the nodes answers: nothing can be stored; of 3 nodes these do not: b, c => start them again with their own folders"}},
		{"no leader right now", true, []NodeStatus{node("a", 1), node("b", 1), node("c", 1)}, nil, []string{"no majority of the nodes answers: nothing can be stored => wait"}},
		{"one of three is dead", false, []NodeStatus{node("a", 1), node("b", 1), dead("c")}, stream(b, Copy{Node: "c", Offline: true}), []string{"node c does not answer since 1m30s, and counts for the majority => replace c c"}},
		{"and there is a new one", false, []NodeStatus{node("a", 1), node("b", 1), dead("c"), node("d", 0)}, stream(b), []string{"node c does not answer since 1m30s, and counts for the majority => replace c d"}},
		{"one of four is dead", false, []NodeStatus{node("a", 1), node("b", 1), node("c", 1), dead("d")}, stream(b, c), []string{"node d does not answer since 1m30s, and counts for the majority => remove d"}},
		{"a new one", false, []NodeStatus{node("a", 1), node("b", 1), node("c", 1), node("d", 0)}, stream(b, c), []string{"node d has no copies => add d"}},
		{"a removed one", false, []NodeStatus{node("a", 1), node("b", 1), node("c", 1), gone}, stream(b, c), []string{"node d is not a member of the cluster => if"}},
		{"a disk is full", false, []NodeStatus{node("a", 1), full("b"), node("c", 1)}, stream(b, c), []string{"node b has 1 MiB of room => make"}},
		{"and there are four", false, []NodeStatus{node("a", 1), full("b"), node("c", 1), node("d", 1)}, stream(b, c), []string{"node b has 1 MiB of room => drain b"}},
		{"a node has failed", false, []NodeStatus{node("a", 1), broken, node("c", 1)}, stream(b, c), []string{"node b stores nothing: a reason => see"}},
		{"a stream has no leader", false, []NodeStatus{node("a", 1), node("b", 1), node("c", 1)}, []Stream{{Name: "s", Replicas: 3}}, []string{"1 streams have no leader: a majority of the copies of each is away => wait"}},
		{"a stream is not known", false, []NodeStatus{node("a", 1), node("b", 1), node("c", 1)}, append(stream(b, c), Stream{Name: "t", Problem: "a reason"}), []string{"the storage does not say where 1 streams are: a reason => try again"}},
		{"an existing NATS", false, []NodeStatus{{Name: "a", Alive: true}}, stream(), nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := Status{Majority: !x.lost, Nodes: x.nodes, Streams: x.streams}
			got := s.Faults()
			if len(got) != len(x.want) {
				t.Fatalf("got %+v, want %q", got, x.want)
			}
			for i, f := range got {
				do := f.Do
				if len(f.Verb) > 0 {
					do = strings.Join(f.Verb, " ")
				}
				if what, wantDo, _ := strings.Cut(x.want[i], " => "); f.What != what || !strings.HasPrefix(do, wantDo) || f.Do == "" {
					t.Errorf("got %+v, want %q", f, x.want[i])
				}
			}
		})
	}
}

// NATS calls a node that was killed offline only after minutes, and in a stream with little traffic its copy is only a little behind. The
// copies of a node that does not answer, or to which the leader has no connection, are missing all the same.
func TestLostCopies(t *testing.T) {
	live := func(name string) NodeStatus { return NodeStatus{Name: name, Member: true, Alive: true} }
	s := Status{
		Nodes: []NodeStatus{live("a"), live("b"), {Name: "c", Member: true}},
		Streams: []Stream{{Name: "s", Replicas: 3, Leader: "a", Copies: []Copy{
			{Node: "b", Behind: 2}, {Node: "c", Behind: 2},
		}}},
	}
	if s.count(false); s.Streams[0].Missing() != 1 || s.Nodes[2].Copies != 1 {
		t.Errorf("got %d missing copies, and %d on the lost node, want 1 and 1", s.Streams[0].Missing(), s.Nodes[2].Copies)
	}
	led := &nats.ClusterInfo{Leader: "a", Replicas: []*nats.PeerInfo{{Name: "b", Lag: 2}, {Name: "c", Lag: 2}}}
	for _, x := range []struct {
		peers []string
		want  int
	}{{[]string{"b", "c"}, 0}, {[]string{"b"}, 1}, {nil, 2}} {
		if got := missingOf(3, led, x.peers); got != x.want {
			t.Errorf("connected to %q: got %d missing copies, want %d", x.peers, got, x.want)
		}
	}
}
