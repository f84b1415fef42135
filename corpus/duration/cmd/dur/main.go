// Command dur normalises durations: dur 90min prints 1h30m.
package main

import (
	"fmt"
	"os"
	"strings"

	"example.org/duration"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: dur TEXT...")
		os.Exit(2)
	}
	d, err := duration.Parse(strings.Join(os.Args[1:], " "))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(duration.Format(d))
}
