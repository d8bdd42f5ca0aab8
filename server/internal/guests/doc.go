// Package guests limits the matches that guests start: their number, their bots, the bytes of their states and of their replays. It is one
// of the machines that server composes.
//
// A guest is a player without admin rights. Anybody can be one, so all guests together have one [Quota], in units that every game has.
//
//	        Reserve             Grow …                    Check                     Release
//	asked ──────────► a place ──────────► its state made ──────► the match runs ──────────► over
//	  │                  │                                  │
//	  └─ refused: tries  └──────── refused: a place is ◄────┘ refused: too many bytes
//	     or a place                given back
//
// [Quota.Reserve] takes a place before the server makes the match, because the server must make a state before it knows its size. An
// address may therefore try only so often. [Quota.Grow] records what the match uses now; the server calls it with each view of the
// match. [Quota.Check] refuses a match whose first state is too large. A match whose state grows later goes on, but meanwhile no other
// guest can start one. The bytes of replays are a budget of a day: beyond it guests start no match.
//
// A refusal is an [Error], which says whether it concerns the address (come back later, others may) or all guests.
package guests
