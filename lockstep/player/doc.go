// Package player is the player's side of one live match. A [Client] keeps a connection, follows the match, paces what
// it shows, predicts the player's own commands, and asks for a state when it differs.
//
//samestep:deterministic
package player
