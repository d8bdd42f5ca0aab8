// Package platforms is a small game of integer platform physics: each player has a unit that walks, jumps, falls on
// platforms and on other units, and is moved by triggers.
//
// The game is not of this engine's making. Another engine has it too, with a checksum and a wire of its own; package
// compat speaks that wire (see its page), so that clients of the other engine play in matches of this one. That is why the rules do
// things their own way: entities have ascending numbers, a checksum is the FNV-1a hash of a text, and commands that
// name other players' units are carried along and ignored.
//
// Coordinates are thousandths of a cell, x to the right and y up. A position is the centre of a box. A tick has three
// phases:
//
//   - Commands, ordered by player, number, kind, targets and direction. [Move] sets the direction of the player's units,
//     which stays. [Jump] makes them jump if they stand on something.
//   - Movement, unit by unit, against the boxes at the start of the tick.
//   - Triggers, unit by unit. A unit that comes to touch a trigger fires the action that the trigger has for entering,
//     and one that no longer touches it fires the one for leaving.
//
// The state is a [World], and [World.Checksum] its checksum in the other engine's terms.
package platforms
