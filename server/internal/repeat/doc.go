// Package repeat makes requests repeatable that would otherwise do something twice. It is one of the machines that server composes.
//
// A client that gets no answer to POST /matches cannot know whether a match was created. It sends an Idempotency-Key and repeats the
// request. A [Table] remembers the keys and the answers:
//
//	Begin(key) ──► New ──► the server does it ──► End(answer) ──► Done: gets the same answer again
//	     │                        │                    │
//	     │                        │                    └─ no answer, an error: the key is forgotten, so the client may repeat it
//	     ├──► Running ◄───────────┘ an earlier request is in progress
//	     └──► Changed: the earlier request had another body
//
// Keys of admins and of players have limits of their own, so players cannot displace those of admins. At a limit the oldest answered key
// is forgotten; while all are in progress, a new one is told that it is Running. An answer is kept for a day. The caller passes the time.
package repeat
