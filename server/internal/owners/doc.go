// Package owners tracks who plays the seats of a match, as the tokens say: the last owner of each seat, the last session that had it, and
// what the log must say of that. It is one of the machines that a match of package server composes.
//
// # One message
//
// The host asks for the grant of a token while it receives a message, and reports afterwards who was welcomed or refused. So the match
// calls, for each message of a connection,
//
//	Receive ──► Authorized, if the message has a token ──► Welcome, or Refusal
//
// [Owners.Welcome] takes the grant of this message as that of the seat's owner. Without one, a session came back, and the owner of the
// seat stays. Spectators own nothing.
//
// # Claims
//
// A server that resumes the match knows the seat of each token that names one. For the others Welcome returns a claim, a hash of the
// match and the owner, which the match writes into its log. A seat whose claim is in the log gets a new one with each other owner, also with
// one whose token names the seat.
//
// # Who reads it
//
// [Owners.Subjects] is what the archive is told of a match that is over. [Owners.Session] is for lines of the log about a player who may
// be gone. Guests have no subject: they make up their tokens.
//
// The match's goroutine calls all methods.
package owners
