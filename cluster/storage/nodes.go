package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A NodeStatus is what a node of the storage says, or others say of it.
type NodeStatus struct {
	Name    string        `json:"name"`
	Member  bool          `json:"member"`            // it counts for the majority
	Alive   bool          `json:"alive"`             // it answers
	Unseen  time.Duration `json:"unseen,omitempty"`  // how long the others have not heard of it; 0 if unknown
	Leads   int           `json:"leads"`             // streams
	Copies  int           `json:"copies"`            // of streams, with those that it leads
	Behind  uint64        `json:"behind,omitempty"`  // operations that they do not have yet
	Free    int64         `json:"free"`              // bytes on its disk; -1: unknown
	Problem string        `json:"problem,omitempty"` // why it stores nothing
	peer    string        // how NATS names it
}

// A Status is what the storage consists of.
type Status struct {
	Majority bool         `json:"majority"` // it can store anything
	Nodes    []NodeStatus `json:"nodes"`    // by name
	Streams  []Stream     `json:"streams"`
}

// answersTime is how long nodes may take to say what they are.
const answersTime = time.Second

// Status asks all nodes and streams. It is for an operator or a server.
func (c *Conn) Status(ctx context.Context) (*Status, error) {
	s := &Status{}
	answers, err := c.answers(ctx)
	if err != nil {
		return nil, err
	}
	s.add(answers)
	if s.Majority || len(answers) == 0 {
		s.Streams = c.Streams(ctx)
	}
	s.count(len(answers) == 0)
	return s, nil
}

// answers asks all nodes. It waits until all that can answer have done so.
func (c *Conn) answers(ctx context.Context) (all []nodeAnswer, err error) {
	ctx, cancel := context.WithTimeout(ctx, answersTime)
	defer cancel()
	inbox := c.NATS.NewRespInbox()
	sub, err := c.NATS.SubscribeSync(inbox)
	if err == nil {
		defer sub.Unsubscribe()
		err = c.NATS.PublishRequest(nodesSubject, inbox, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("storage: nodes: %w", err)
	}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if errors.Is(err, context.DeadlineExceeded) || err == nil && m.Header.Get("Status") == noResponders {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("storage: nodes: %w", err)
		}
		var a nodeAnswer
		if err := json.Unmarshal(m.Data, &a); err != nil {
			return nil, fmt.Errorf("storage: the answer of a node: %w", err)
		}
		if all = append(all, a); complete(all) {
			return all, nil
		}
	}
}

// noResponders is the status with which NATS says that nobody answers a request.
const noResponders = "503"

// complete reports whether every node has answered that the first of them names. One whose own storage has failed names none.
func complete(all []nodeAnswer) bool {
	i := slices.IndexFunc(all, func(a nodeAnswer) bool { return len(a.Members) > 0 })
	return i >= 0 && !slices.ContainsFunc(all[i].Members, func(m member) bool {
		return !slices.ContainsFunc(all, func(a nodeAnswer) bool { return a.Name == m.Name })
	})
}

// count counts what each node has. With an existing NATS only the streams name its nodes.
func (s *Status) count(foreign bool) {
	for _, x := range s.Streams {
		s.Majority = s.Majority || x.Leader != ""
		for i, c := range x.Copies {
			if n := s.node(c.Node); !foreign && n != nil && !n.Alive {
				x.Copies[i].Offline = true // NATS may say so only after minutes
			}
		}
		for _, c := range append(slices.Clip(x.Copies), Copy{Node: x.Leader}) {
			if c.Node == "" || !foreign && s.node(c.Node) == nil {
				continue
			}
			n := s.of(c.Node)
			n.Copies++
			n.Behind += c.Behind
			if c.Node == x.Leader {
				n.Leads++
			}
			if foreign {
				n.Alive = !c.Offline
			}
		}
	}
	slices.SortFunc(s.Nodes, func(a, b NodeStatus) int { return cmp.Compare(a.Name, b.Name) })
}

// of returns a node, which it makes if there is none of the name.
func (s *Status) of(name string) *NodeStatus {
	if n := s.node(name); n != nil {
		return n
	}
	s.Nodes = append(s.Nodes, NodeStatus{Name: name, Free: -1})
	return &s.Nodes[len(s.Nodes)-1]
}

// add takes the answers of nodes.
func (s *Status) add(answers []nodeAnswer) {
	// The leader knows who is a member, and since when another is lost. Without its answer, all tell what they know.
	led := false
	for _, a := range answers {
		s.Majority = s.Majority || a.Leader != ""
		led = led || a.Leader == a.Name
	}
	for _, a := range answers {
		n := s.of(a.Name)
		n.Alive, n.Free, n.Problem = true, a.Free, a.Problem
		if led && a.Leader != a.Name {
			continue
		}
		for _, m := range a.Members {
			n := s.of(m.Name)
			n.Member, n.peer, n.Unseen = true, m.Peer, m.Unseen
		}
	}
	for i := range s.Nodes {
		if s.Nodes[i].Alive {
			s.Nodes[i].Unseen = 0
		}
	}
}

// node returns a node, or nil.
func (s *Status) node(name string) *NodeStatus {
	if i := slices.IndexFunc(s.Nodes, func(n NodeStatus) bool { return n.Name == name }); i >= 0 {
		return &s.Nodes[i]
	}
	return nil
}

// copiesWanted returns the largest number of copies that a stream should have.
func (s *Status) copiesWanted() (n int) {
	for _, x := range s.Streams {
		n = max(n, x.Replicas)
	}
	return n
}

// aliveWithout returns how many live members there are besides one.
func (s *Status) aliveWithout(name string) (n int) {
	for _, x := range s.Nodes {
		if x.Member && x.Alive && x.Name != name {
			n++
		}
	}
	return n
}

// DialAny connects as [Dial] does, but to the first of the nodes at URLs from which the storage can be used: one that is cut off from
// the others takes connections and stores nothing. If there is none it returns a connection to the first that answers, and why the
// others are not used.
func DialAny(ctx context.Context, urls string, o DialOptions) (conn *Conn, unused []error, err error) {
	for _, url := range strings.Split(urls, ",") {
		next, err := Dial(url, o)
		if err == nil {
			if err = next.usable(ctx, o.Role); err == nil {
				if conn != nil {
					conn.Close()
				}
				return next, unused, nil
			}
		}
		unused = append(unused, fmt.Errorf("%s: %w", url, err))
		switch {
		case next == nil:
		case conn == nil:
			conn = next
		default:
			next.Close()
		}
	}
	if conn == nil {
		return nil, nil, errors.Join(unused...)
	}
	return conn, unused, nil
}

// errAlone is why a node is not used that takes connections.
var errAlone = errors.New("storage: the node cannot reach a majority of the others")

// usable returns why the storage cannot be used through the connection's node.
func (c *Conn) usable(ctx context.Context, r Role) error {
	if !r.isolated() {
		answers, err := c.answers(ctx)
		if err != nil || slices.ContainsFunc(answers, func(a nodeAnswer) bool { return a.Leader != "" }) {
			return err
		}
		if len(answers) > 0 {
			return errAlone
		}
	}
	ctx, cancel := context.WithTimeout(ctx, infoTime)
	defer cancel()
	_, err := c.JS.AccountInfo(ctx)
	return err
}

// members returns the names of all members.
func (s *Status) members() (all []string) {
	for _, n := range s.Nodes {
		if n.Member {
			all = append(all, n.Name)
		}
	}
	return all
}

// A Fault is what is wrong with the storage, and what an operator does about it.
type Fault struct {
	What string   `json:"what"`
	Do   string   `json:"do,omitempty"`   // in words; with Verb: why, or instead
	Verb []string `json:"verb,omitempty"` // of the command storage, with its arguments
}

// lowRoom is how many bytes are few for the disk of a node.
const lowRoom = 256 << 20

// Faults returns what is wrong. What stops everything comes first.
func (s *Status) Faults() (all []Fault) {
	if len(s.members()) == 0 {
		return nil // of an existing NATS, whose members are unknown
	}
	if !s.Majority {
		return []Fault{s.noMajority()}
	}
	wanted := s.copiesWanted()
	spare := "" // a live member without copies
	for _, n := range s.Nodes {
		if n.Member && n.Alive && n.Copies == 0 && wanted > 0 {
			spare = n.Name
		}
	}
	dead := false
	for _, n := range s.Nodes {
		if n.Member && !n.Alive {
			dead = true
			all = append(all, s.dead(&n, spare))
		}
	}
	if spare != "" && !dead {
		all = append(all, Fault{What: fmt.Sprintf("node %s has no copies", spare), Do: "give it its share; or remove it, if it was drained to be stopped", Verb: []string{"add", spare}})
	}
	for _, n := range s.Nodes {
		switch {
		case !n.Alive:
		case !n.Member:
			all = append(all, Fault{What: fmt.Sprintf("node %s is not a member of the cluster", n.Name), Do: "if it has just started, wait; if it was removed, stop it: it would rejoin at its next start"})
		case n.Problem != "":
			all = append(all, Fault{What: fmt.Sprintf("node %s stores nothing: %s", n.Name, n.Problem), Do: "see its log"})
		case n.Free >= 0 && n.Free < lowRoom && n.Copies > 0 && s.aliveWithout(n.Name) >= wanted:
			all = append(all, Fault{What: fmt.Sprintf("node %s has %d MiB of room", n.Name, n.Free>>20), Do: "make room on its disk, or move its copies", Verb: []string{"drain", n.Name}})
		case n.Free >= 0 && n.Free < lowRoom:
			all = append(all, Fault{What: fmt.Sprintf("node %s has %d MiB of room", n.Name, n.Free>>20), Do: "make room on its disk"})
		}
	}
	return append(all, s.missing(dead)...)
}

// noMajority returns what to do without a majority.
func (s *Status) noMajority() Fault {
	var away []string
	for _, n := range s.Nodes {
		if n.Member && !n.Alive {
			away = append(away, n.Name)
		}
	}
	f := Fault{What: "no majority of the nodes answers: nothing can be stored"}
	if len(away) == 0 {
		f.Do = "wait for an election; if none comes within 30 s, look at the network between the nodes"
		return f
	}
	f.What += fmt.Sprintf("; of %d nodes these do not: %s", len(s.Nodes), strings.Join(away, ", "))
	f.Do = "start them again with their own folders. A node with an empty folder has no say until all nodes are there, so replace nodes only while a majority lives"
	return f
}

// dead returns what to do about a member that does not answer.
func (s *Status) dead(n *NodeStatus, spare string) Fault {
	f := Fault{What: fmt.Sprintf("node %s does not answer, and counts for the majority", n.Name)}
	if n.Unseen > 0 {
		f.What = fmt.Sprintf("node %s does not answer since %v, and counts for the majority", n.Name, n.Unseen.Round(time.Second))
	}
	const again = "start it again; if it is lost for ever, "
	switch {
	case spare != "":
		f.Do, f.Verb = again+"node "+spare+" takes its place", []string{"replace", n.Name, spare}
	case s.aliveWithout(n.Name) >= max(s.copiesWanted(), 2):
		f.Do, f.Verb = again+"the others are enough", []string{"remove", n.Name}
	default:
		f.Do = fmt.Sprintf("%sstart another node with its name, its addresses and an empty folder; then wait", again)
		f.Verb = []string{"replace", n.Name, n.Name}
	}
	return f
}

// missing returns what to do about streams with too few copies.
func (s *Status) missing(dead bool) (all []Fault) {
	copies, streams, leaderless, unknown, why := 0, 0, 0, 0, ""
	for _, x := range s.Streams {
		if x.Problem != "" {
			unknown, why = unknown+1, x.Problem
			continue
		}
		if n := x.Missing(); n > 0 {
			copies, streams = copies+n, streams+1
		}
		if x.Leader == "" {
			leaderless++
		}
	}
	if unknown > 0 {
		all = append(all, Fault{What: fmt.Sprintf("the storage does not say where %d streams are: %s", unknown, why), Do: "try again"})
	}
	if leaderless > 0 {
		all = append(all, Fault{What: fmt.Sprintf("%d streams have no leader: a majority of the copies of each is away", leaderless), Do: "wait for an election; if none comes within 30 s, start the nodes again that do not answer"})
	}
	if streams == 0 || dead || leaderless > 0 {
		return all // the node is the fault
	}
	f := Fault{What: fmt.Sprintf("%d copies of %d streams are missing", copies, streams), Do: "wait: they are made"}
	if wanted := s.copiesWanted(); s.aliveWithout("") < wanted {
		f.Do = fmt.Sprintf("start another node: %d live, and streams should have %d copies", s.aliveWithout(""), wanted)
	}
	return append(all, f)
}
