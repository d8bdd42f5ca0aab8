package storage

import (
	"fmt"
	"strings"
	"time"
)

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
			all = append(all, Fault{What: fmt.Sprintf("node %s is none of the cluster", n.Name), Do: "if it has just been started, wait; if it was removed, stop it: it joins again at its next start"})
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
