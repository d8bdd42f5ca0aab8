package skirmish

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// describe returns a command as text.
func describe(c *lockstep.Command) string {
	return fmt.Sprintf("player %d %s", c.Player, deed(c.Value))
}

func deed(value any) string {
	switch v := value.(type) {
	case *Move:
		return afterwards(v.Queued, fmt.Sprintf("moves %v to %v", &v.Who, v.To))
	case *AttackMove:
		return afterwards(v.Queued, fmt.Sprintf("attacks towards %v with %v", v.To, &v.Who))
	case *Patrol:
		return fmt.Sprintf("lets %v patrol to %v", &v.Who, v.To)
	case *Attack:
		return fmt.Sprintf("attacks unit %d with %v", v.Target, &v.Who)
	case *Stop:
		return fmt.Sprintf("stops %v", &v.Who)
	case *Hold:
		return fmt.Sprintf("lets %v hold the position", &v.Who)
	case *Gather:
		return fmt.Sprintf("lets %v gather crystal %d", &v.Who, v.Crystal)
	case *Build:
		return fmt.Sprintf("lets %v build a %v at %v", &v.Who, v.Kind, v.At)
	case *Train:
		return fmt.Sprintf("trains %d × %v in building %d", v.Count, v.Kind, v.Building)
	case *Assign:
		return v.deed()
	case *Propose:
		if v.Withdraw {
			return fmt.Sprintf("no longer offers player %d an alliance", v.To)
		}
		return fmt.Sprintf("offers player %d an alliance", v.To)
	case *Accept:
		return fmt.Sprintf("allies with player %d", v.From)
	case *Break:
		return "breaks the alliance"
	case *Surrender:
		if v.Withdraw {
			return "no longer votes to surrender"
		}
		return "votes to surrender"
	case *Permit:
		if v.Observers {
			return "shares its sight with observers"
		}
		return "hides its sight from observers"
	case *Ping:
		return fmt.Sprintf("marks the place %v", v.At)
	}
	return fmt.Sprintf("gives an unknown command %+v", value)
}

func (c *Assign) deed() string {
	units := (&Who{Units: c.Units}).String()
	switch {
	case c.Group == noGroup:
		return fmt.Sprintf("takes %s out of their groups", units)
	case c.Add:
		return fmt.Sprintf("adds %s to group %d", units, c.Group)
	}
	return fmt.Sprintf("makes %s group %d", units, c.Group)
}

func afterwards(queued bool, deed string) string {
	if queued {
		return fmt.Sprintf("%s afterwards", deed)
	}
	return deed
}

// String returns the place in cells, such as 31.5,40.25.
func (p Point) String() string { v := p.Vec2(); return v.X.String() + "," + v.Y.String() }

// String returns the units as text, such as "group 3", "unit 17" or "14 units".
func (w *Who) String() string {
	switch {
	case w.Group != noGroup:
		return fmt.Sprintf("group %d", w.Group)
	case len(w.Units) == 1:
		return fmt.Sprintf("unit %d", w.Units[0])
	}
	return fmt.Sprintf("%d units", len(w.Units))
}
