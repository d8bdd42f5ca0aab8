// Package views makes the views of a match and sends them as differences. A view is what one viewer may see of the state, see
// lockstep/feed. It is one of the machines of lockstep/host.
//
// # Views
//
// A [Views] makes one series of views for each viewer, shared by all connections that see as it does. The host drives a round:
//
//	Await, Due ──► Begin ──► Follow for each connection ──► Make
//
// [Views.Await] comes when a tick is durable. If players get records at the same time, the round is put off by half a tick, so that
// no frame is late because of many viewers; [Views.Due] then says when. [Views.Begin] skips a round that comes sooner than the policy wants.
// [Views.Follow] gives a connection the series of its viewer. A viewer that has changed, as after a change of teams, begins anew.
// [Views.Make] makes the view of each series that is followed, and drops the others. The host begins no round before all
// records are durable, because a crash could take a tick back that somebody has seen.
//
// # A connection
//
// A [Viewing] is what one connection has of its series:
//
//	        Begin              Make, Open             AppendDeltas, Ack
//	new ────────────► waits ─────────────► described ──────────────────► current
//	                    ▲                                                   │
//	                    └───────────── Begin, or another series ────────────┘
//
// [Views.Open] sends the description of the views, and until then nothing may be sent, because notes would seem to be of the
// roster. [Viewing.AppendDeltas] sends differences to the last view sent, in chunks. At most 8 views are unacknowledged; a view with
// nothing new is still sent as an empty difference once in a while, so that the viewer knows the tick. [Viewing.Ack] refuses
// what was never sent. [Viewing.Complete] says that the connection has all of a match that is over.
//
// A viewer gets no records, so [Viewing.Present] tells which changes of the seats it has not been told.
//
//samestep:deterministic
package views
