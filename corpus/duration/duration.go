// Package duration reads and writes lengths of time as people write them.
package duration

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"example.org/textscan"
)

// ErrEmpty is returned for a text without any part.
var ErrEmpty = errors.New("duration: empty text")

// A SyntaxError tells where a text stops to be a duration.
type SyntaxError struct {
	Text   string
	Offset int // in bytes
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("duration: cannot read %q at byte %d", e.Text, e.Offset)
}

// Parse reads parts such as "1h", "30 min" or "2 Tage", in any order, with or without blanks.
func Parse(text string) (time.Duration, error) {
	if strings.TrimSpace(text) == "" {
		return 0, ErrEmpty
	}
	return parseDuration(textscan.New(text))
}

// parseDuration sums up parts until the scanner is at its end.
func parseDuration(s *textscan.Scanner) (time.Duration, error) {
	var total time.Duration
	for s.SkipSpace(); !s.Done(); s.SkipSpace() {
		part, err := parsePart(s)
		if err != nil {
			return 0, err
		}
		if total > math.MaxInt64-part {
			return 0, fmt.Errorf("duration: %q is longer than 292 years", s.Text())
		}
		total += part
	}
	return total, nil
}

func parsePart(s *textscan.Scanner) (time.Duration, error) {
	start := s.Offset()
	amount, ok := s.Float()
	if !ok {
		return 0, &SyntaxError{s.Text(), start}
	}
	s.SkipSpace()
	word := s.Word()
	unit, ok := lookupUnit(word)
	if !ok {
		return 0, &SyntaxError{s.Text(), s.Offset() - len(word)}
	}
	return time.Duration(amount * float64(unit.Length())), nil
}
