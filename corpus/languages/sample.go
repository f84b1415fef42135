// Package sample shows Go.
package sample

import (
	"context"
	"fmt"
)

const Version = "1.0"

const (
	StateIdle State = iota
	StateRunning
)

var (
	ErrMissing = fmt.Errorf("missing")
	a, b       int
)

type State int

type Number interface {
	~int | ~int64 | ~float64
	String() string
}

type Set[T comparable] = map[T]struct{}

type Pair[K comparable, V any] struct {
	Key   K
	Value V `json:"value"`
	left, right *Pair[K, V]
	context.Context
	inner struct{ depth int }
}

type (
	Handler func(ctx context.Context) error
	Alias   = State
)

func (p *Pair[K, V]) Swap(other Pair[K, V]) (K, V) { return p.Key, p.Value }

func (s State) String() string {
	local := 1
	_ = local
	return "state"
}

func (e *externalType) Method() {}

func Map[T, U any](items []T, f func(T) U) []U {
	type localType struct{ x int }
	const localConst = 1
	for i := range 10 {
		_ = i
	}
	for _, item := range items {
		f(item)
	}
	return nil
}

func init() {}

func main() {
	defer func() { recover() }()
	go func() {}()
}
