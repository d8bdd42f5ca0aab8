package skirmish

import "errors"

// The reasons why a command is rejected.
var (
	ErrDefeated  = errors.New("skirmish: the player is defeated")
	ErrNoUnits   = errors.New("skirmish: the command is for no units")
	ErrTooMany   = errors.New("skirmish: the command is for too many units")
	ErrNotSorted = errors.New("skirmish: the units are not in ascending order")
	ErrUnknown   = errors.New("skirmish: there is no such thing")
	ErrNotYours  = errors.New("skirmish: the unit is not yours")
	ErrWrongKind = errors.New("skirmish: a unit of this kind cannot do that")
	ErrOffMap    = errors.New("skirmish: the place is not on the map")
	ErrUnseen    = errors.New("skirmish: the target is not in sight")
	ErrFriend    = errors.New("skirmish: the target is a friend")
	ErrNoRoom    = errors.New("skirmish: the building does not fit there")
	ErrPoor      = errors.New("skirmish: that costs more than you have")
	ErrFixed     = errors.New("skirmish: the teams of this match do not change")
	ErrNoEnemy   = errors.New("skirmish: that alliance would leave no enemy")
	ErrAlone     = errors.New("skirmish: you have no ally")
	ErrTooSoon   = errors.New("skirmish: too soon after the last change of teams")
	ErrAlready   = errors.New("skirmish: that is so already")
	ErrOver      = errors.New("skirmish: the match is over")
	ErrBusy      = errors.New("skirmish: the building makes something else, or its queue is full")
)
