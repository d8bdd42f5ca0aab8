// Package tries says which interrupted matches a process tries to continue at a time, and which one is set aside because it ends
// the processes that try it. A server keeps a [Record] beside the log of each match, and a cluster in its directory.
//
// A try begins before the log is played, and goes on until the match has run for a while: the log may lack the tick that ends the
// process. A record of a try whose process is gone is a death. If several matches were tried at that time, each of them is a suspect.
// A suspect is tried alone, after all others, so that the next death is its own:
//
//	if r.Trying {              // and its process is gone
//		r = r.Died()           // and kept, so that it counts once
//	}
//	if r.SetAside() { … }      // nobody tries it until [Record.Again]
//	if room.Enter(r.Suspect) { // else it waits until others have left
//		r = r.Begin(r.Suspect) // and kept, before the log is played
//		…
//		r = tries.Record{}     // it runs; or r.Stop(): nobody knows
//		room.Leave()
//	}
//
// So a match that ends its processes ends at most three: one besides others, and two alone. A match that does not is set aside
// only if its process was ended from outside twice while it was tried alone, and has not run well in between.
//
//samestep:deterministic
package tries

import "cmp"

// MaxDeaths is how many processes end while they try only one match, until that is set aside.
const MaxDeaths = 2

// A Record is what is known against a match. Its zero value is nothing.
type Record struct {
	Trying  bool `json:"trying,omitempty"`  // a process tries to continue the match
	Alone   bool `json:"alone,omitempty"`   // and no other one meanwhile
	Suspect bool `json:"suspect,omitempty"` // a process has ended during a try, perhaps because of another match
	Deaths  int  `json:"deaths,omitempty"`  // of processes that tried only this match, since it last ran
}

// Begin is for a process that begins to try the match.
func (r Record) Begin(alone bool) Record {
	r.Trying, r.Alone = true, alone
	return r
}

// Died is for whoever finds a try whose process is gone.
func (r Record) Died() Record {
	if r.Trying && r.Alone {
		r.Deaths++
	}
	r.Suspect = true
	return r.Stop()
}

// Stop is for a try that ends without a result, because the process is stopped or the match stands.
func (r Record) Stop() Record {
	r.Trying, r.Alone = false, false
	return r
}

// SetAside reports whether nobody may try the match.
func (r Record) SetAside() bool { return r.Deaths >= MaxDeaths }

// Again is for an admin who lets a match be tried again that is set aside. One more death sets it aside again.
func (r Record) Again() Record {
	r.Deaths = min(r.Deaths, MaxDeaths-1)
	return r
}

// Compare orders matches in which they are tried: those without a suspicion come first, and suspects with the fewest deaths.
func (r Record) Compare(other Record) int {
	if r.Suspect != other.Suspect {
		if r.Suspect {
			return 1
		}
		return -1
	}
	return cmp.Compare(r.Deaths, other.Deaths)
}

// A Room has the matches that a process tries now.
type Room struct {
	tried int
	alone bool
}

// Enter reports whether another try may begin now, and counts it then.
func (r *Room) Enter(alone bool) bool {
	if r.alone || alone && r.tried > 0 {
		return false
	}
	r.tried, r.alone = r.tried+1, alone
	return true
}

// Leave is for a try that has ended.
func (r *Room) Leave() { r.tried, r.alone = r.tried-1, false }
