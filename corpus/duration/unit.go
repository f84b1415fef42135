package duration

import (
	"strings"
	"time"
)

//go:generate stringer -type=Unit -linecomment

// Unit is a unit of time, from the shortest to the longest.
type Unit int

const (
	Nanosecond  Unit = iota // ns
	Microsecond             // µs
	Millisecond             // ms
	Second                  // s
	Minute                  // m
	Hour                    // h
	Day                     // d
	Week                    // w
)

var lengths = [...]time.Duration{
	time.Nanosecond, time.Microsecond, time.Millisecond, time.Second,
	time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
}

// Length is what one of the unit lasts.
func (u Unit) Length() time.Duration { return lengths[u] }

// Names beyond the short ones, in lower case. "µs" comes with two different letters: the micro
// sign (U+00B5) and the Greek mu (U+03BC) look alike and are both in use.
var names = map[string]Unit{
	"us": Microsecond, "µs": Microsecond, "μs": Microsecond,
	"sec": Second, "second": Second, "seconds": Second, "sekunde": Second, "sekunden": Second,
	"min": Minute, "minute": Minute, "minutes": Minute, "minuten": Minute,
	"hour": Hour, "hours": Hour, "stunde": Hour, "stunden": Hour,
	"day": Day, "days": Day, "tag": Day, "tage": Day,
	"week": Week, "weeks": Week, "woche": Week, "wochen": Week,
}

func lookupUnit(word string) (Unit, bool) {
	word = strings.ToLower(word)
	for unit := Nanosecond; unit <= Week; unit++ {
		if unit.String() == word {
			return unit, true
		}
	}
	unit, ok := names[word]
	return unit, ok
}
