package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// measure is a column of the tables.
type measure struct {
	name string
	of   func(outages) outage
}

var measures = []measure{
	{"answers", func(o outages) outage { return o.Answers }},
	{"settlement", func(o outages) outage { return o.Settlement }},
	{"delivery", func(o outages) outage { return o.Delivery }},
	{"apply to Ready", func(o outages) outage { return o.Ready }},
}

// report writes the result of all rounds as Markdown.
func report(seed uint64, rounds []outcome, transactions int64, problems []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Chaos\n\n%d rounds, seed %d, %d transactions: ", len(rounds), seed, transactions)
	if len(problems) == 0 {
		b.WriteString("nothing lost, nothing doubled.\n")
	} else {
		fmt.Fprintf(&b, "**%d problems**.\n\n", len(problems))
		for _, problem := range problems {
			fmt.Fprintf(&b, "- %s\n", problem)
		}
	}
	b.WriteString("\nLongest time between two successes of one sandbox, in seconds: median / worst of the rounds.\n\n")
	table(&b, rounds, func(o outage) time.Duration { return o.Longest })
	b.WriteString(
		"\nTime from the fault to the first success, for the sandbox that waited longest, in seconds: median / worst of the rounds.\n\n",
	)
	table(&b, rounds, func(o outage) time.Duration { return o.First })
	return b.String()
}

// table has a line for each fault, and one for the time before the faults.
func table(b *strings.Builder, rounds []outcome, of func(outage) time.Duration) {
	b.WriteString("| fault | rounds |")
	for _, m := range measures {
		fmt.Fprintf(b, " %s |", m.name)
	}
	b.WriteString(" no answer, 503, 500 |\n| --- | --: |" + strings.Repeat(" --: |", len(measures)+1) + "\n")
	line := func(name string, some []outcome, when func(outcome) outages) {
		fmt.Fprintf(b, "| %s | %d |", name, len(some))
		for _, m := range measures {
			var all []time.Duration
			for _, o := range some {
				all = append(all, of(m.of(when(o))))
			}
			slices.Sort(all)
			fmt.Fprintf(b, " %.2f / %.2f |", all[len(all)/2].Seconds(), all[len(all)-1].Seconds())
		}
	}
	if len(rounds) > 0 {
		line("none, before each round's", rounds, func(o outcome) outages { return o.Before })
		b.WriteString(" |\n")
	}
	for _, f := range faults {
		some := slices.DeleteFunc(slices.Clone(rounds), func(o outcome) bool { return o.Fault.String() != f.String() })
		if len(some) == 0 {
			continue
		}
		line(f.String(), some, func(o outcome) outages { return o.During })
		var seen answered
		for _, o := range some {
			seen.Nothing += o.Refused.Nothing
			seen.Unavailable += o.Refused.Unavailable
			seen.Internal += o.Refused.Internal
		}
		fmt.Fprintf(b, " %d, %d, %d |\n", seen.Nothing, seen.Unavailable, seen.Internal)
	}
}

// String formats an outcome on one line.
func (o outcome) String() string {
	name := o.Fault.String()
	if o.Detail != "" {
		name += " (" + o.Detail + ")"
	}
	var parts []string
	for _, m := range measures {
		parts = append(parts, fmt.Sprintf("%s %.2f s", m.name, m.of(o.During).Longest.Seconds()))
	}
	return fmt.Sprintf("%s: without %s; %d requests without an answer, %d answered 503, %d 500; the round took %.1f s", name,
		strings.Join(parts, ", "), o.Refused.Nothing, o.Refused.Unavailable, o.Refused.Internal, o.Took.Seconds())
}
