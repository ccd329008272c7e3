// Command lists measures the first pages of lists in a database that the command fill has filled, through a running
// api. It measures each page in rounds at a fixed rate, in turns for the large sandbox and for all others.
//
//	go run ./test/load/growth/lists -api 127.0.0.1:8080 -sandboxes 1000
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/cauri-dev/cauri/test/load/growth"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	address := flag.String("api", "127.0.0.1:8080", "address of the api")
	sandboxes := flag.Int64("sandboxes", 1000, "number of sandboxes")
	rate := flag.Float64("rate", 50, "requests a second")
	length := flag.Duration("length", 4*time.Second, "duration of a round")
	rounds := flag.Int("rounds", 3, "number of rounds of each page")
	run := flag.String("run", "", "regular expression for page names")
	flag.Parse()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "page\tlarge p50\tp99, rounds\tothers p50\tp99, rounds\t")
	for _, l := range growth.Lists {
		if !regexp.MustCompile(*run).MatchString(l.Name) {
			continue
		}
		fmt.Fprintf(table, "%s\t", l.Name)
		for _, of := range [][2]int64{{1, 1}, {min(2, *sandboxes), *sandboxes}} {
			var half, most []time.Duration
			for range *rounds {
				latency, err := growth.Read(ctx, *address, l, of[0], of[1], *rate, *length)
				if err != nil {
					_ = table.Flush()
					fmt.Fprintln(os.Stderr, "lists:", err)
					os.Exit(1)
				}
				half, most = append(half, latency.Percentile(50)), append(most, latency.Percentile(99))
			}
			slices.Sort(half)
			slices.Sort(most)
			fmt.Fprintf(table, "%s\t%s (%s to %s)\t", short(half[len(half)/2]), short(most[len(most)/2]), short(most[0]), short(most[len(most)-1]))
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush()
}

func short(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
