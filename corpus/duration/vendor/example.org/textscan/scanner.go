// Package textscan walks over a text by runes, numbers and words.
package textscan

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Scanner reads a text from left to right and never goes back.
type Scanner struct {
	text   string
	offset int
}

// New returns a scanner at the start of text.
func New(text string) *Scanner { return &Scanner{text: text} }

func (s *Scanner) Text() string { return s.text }
func (s *Scanner) Offset() int  { return s.offset }
func (s *Scanner) Done() bool   { return s.offset >= len(s.text) }

func (s *Scanner) takeWhile(accept func(rune) bool) string {
	start := s.offset
	for s.offset < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[s.offset:])
		if !accept(r) {
			break
		}
		s.offset += size
	}
	return s.text[start:s.offset]
}

// SkipSpace moves over blanks, and over the comma of "1h, 30m".
func (s *Scanner) SkipSpace() {
	s.takeWhile(func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// Word takes the letters that follow. Callers such as parseDuration look them up themselves.
func (s *Scanner) Word() string { return s.takeWhile(unicode.IsLetter) }

// Float takes digits with at most one point.
func (s *Scanner) Float() (float64, bool) {
	digits := s.takeWhile(func(r rune) bool { return r == '.' || '0' <= r && r <= '9' })
	value, err := strconv.ParseFloat(digits, 64)
	return value, err == nil
}
