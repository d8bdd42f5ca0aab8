// Package vote counts votes to kick a player. It is one of the machines that lockstep/host composes.
//
// # A vote
//
// The chat line "/kick NAME" or "/kick SEAT" is a vote. [Parse] recognizes it, and [Named] finds the accused: a seat number, or a name
// that exactly one seat has.
//
// Accounts vote against accounts. All guests of one address therefore have one vote, and a vote stays valid if the accused
// moves to another seat. A seat has one vote at a time. It expires after a minute, or when the seat gets another account
// ([Votes.Drop]), so that the next player of a seat does not inherit it.
//
// # The count
//
// [Votes.Cast] records a vote and counts all votes against the accused. The electorate is every account with a connected player, except
// the accused and bots. The accused is kicked if more than half of the electorate agrees, and at least two accounts do, so that
// in a match of two neither player can remove the other.
//
// # Calls
//
// The host decides who can be accused (a player who has used up its share of the match's time, or is awaited in a lobby), calls Cast
// with the present occupants of all seats, announces the result, and bans the accused if Cast says so.
//
//samestep:deterministic
package vote
