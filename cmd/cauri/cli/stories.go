package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/stories"
)

// listedStory is a story in output for programs.
type listedStory struct {
	Name    string       `json:"name"`
	Title   english.Text `json:"title"`
	What    english.Text `json:"what"`
	Correct english.Text `json:"correct"`
	Needs   []string     `json:"needs"` // fields of the sandbox's resource
}

func (p *program) storiesCommand() *cobra.Command {
	var o output
	var page paging
	cmd := &cobra.Command{
		Use:   "stories",
		Short: "List the stories: what happens to a shop, and what a correct one does",
		Long: `List the stories: what happens to a shop, and what a correct one does. ` + "`" + p.command("story NAME") + "`" + `
plays one in a sandbox that runs. One that needs more than faults says which field, and
cauri dev --story=NAME plays it in its own sandbox.`,
		Example: "  " + p.command("stories") + "\n  " + p.command("stories -o json"),
		Args:    NoArguments,
	}
	page.add(cmd, mostListed)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cmp.Or(o.check(), page.check()); err != nil {
			return err
		}
		var all []listedStory
		for _, s := range stories.All() {
			all = append(all, listedStory{s.Name, s.Title, s.What, s.Correct, append([]string{}, s.Needs()...)})
		}
		found, err := cut(&page, all)
		if err != nil {
			return err
		}
		return printList(cmd, &o, found, func(s *listedStory) string { return s.Name }, func(out io.Writer) {
			var rows [][]string
			for _, s := range found.Data {
				rows = append(rows, []string{s.Name, string(s.What), strings.Join(s.Needs, ", ")})
			}
			table(out, Table{Titles: "STORY WHAT-HAPPENS NEEDS", Rows: rows, Shorten: "WHAT-HAPPENS"})
		})
	}
	return cmd
}

// command returns the command line of a command that needs no name of a sandbox.
func (p *program) command(rest string) string { return (&target{plugin: p.Plugin}).program(rest) }

func storyNames() (names []string) {
	for _, s := range stories.All() {
		names = append(names, s.Name)
	}
	return names
}

func completeStories(context.Context, *sandbox, string) (names []string) {
	for _, s := range stories.All() {
		if len(s.Needs()) == 0 {
			names = append(names, described(s.Name, string(s.Title)))
		}
	}
	return names
}

func (p *program) storyCommand() *cobra.Command {
	var o output
	var files []string
	cmd := &cobra.Command{
		Use:   "story",
		Short: "Play a story in a sandbox that runs, and judge what came of it",
		Long: `Play a story in a sandbox that runs: set its faults, say what to do now, wait for the
verdict, and remove the faults. Only what happens from now on counts. The sandbox has to
allow faults (spec.api.faults), as every sandbox of cauri dev does, and needs a webhook.

A file of -f has further expectations, as of cauri expect: its lines merchant ask your
shop whether it has booked the payment once. The exit code is 5 if an expectation fails.`,
		Example: "  " + p.called("story", "twice-at-once") + "\n  " + p.called("story", "lost-webhook -f order-1042.yaml"),
	}
	t := p.target(cmd, argument{name: "STORY", required: true, complete: completeStories, form: likelyName})
	cmd.Flags().StringArrayVarP(&files, "filename", "f", nil,
		"file with further expectations, - for the standard input; may be given several times")
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, rest := t.split(args)
		story, err := storyNamed(rest[0])
		if err = errors.Join(err, o.check()); err != nil {
			return err
		}
		all := []*expected{expectationOf(story)}
		if len(files) > 0 {
			further, err := readExpectations(files, cmd.InOrStdin())
			if err != nil {
				return err
			}
			all = append(all, further...)
		}
		err = t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, _ []string) error {
			return p.play(ctx, api, story, all, cmd.ErrOrStderr())
		})
		if err != nil {
			return err
		}
		table := func(out io.Writer) { printJudgements(out, all) }
		return errors.Join(failure(all), printList(cmd, &o, whole(judgements(all)), judged, table))
	}
	return cmd
}

// storyNamed returns a story that a sandbox that runs can play.
func storyNamed(name string) (*stories.Story, error) {
	story := stories.Named(name)
	if story == nil {
		return nil, usage(fmt.Errorf("there is no story %q: write one of %s", name, strings.Join(storyNames(), ", ")))
	}
	if needs := story.Needs(); len(needs) > 0 {
		return nil, usage(fmt.Errorf("%s needs %s of its sandbox, and not only faults: `cauri dev --story=%[1]s` plays it in its own sandbox",
			name, strings.Join(needs, " and ")))
	}
	return story, nil
}

// expectationOf returns the expectation of a story, for what happens from its beginning on.
func expectationOf(story *stories.Story) *expected {
	spec := story.Expectation()
	within, settle, err := expectations.ParseDurations(spec.Within, "")
	if err != nil {
		panic(err) // a test reads each of them
	}
	return &expected{name: story.Name, lines: story.Lines(), within: within, settle: settle}
}

// play sets the faults of a story, says what to do, and waits for the verdicts. It removes the faults in any case.
func (p *program) play(
	ctx context.Context, api *sandboxapi.Client, story *stories.Story, all []*expected, progress io.Writer,
) (err error) {
	webhook, err := api.Webhook(ctx)
	if err != nil {
		return err
	}
	if webhook.URL == nil {
		return refusedError{errors.New("the sandbox has no webhook, which the story needs: " +
			"set spec.webhook.url, or give cauri dev --webhook-url")}
	}
	msisdn, err := payerOf(ctx, api, story.Payer)
	if err != nil {
		return err
	}
	for _, e := range all {
		e.recent = true
	}
	clock, err := api.Clock(ctx)
	if err = errors.Join(err, p.begin(ctx, api, all)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.endStory(ctx, api, story, progress)) }()
	for _, f := range story.Faults(moment(clock.Now)) {
		if err := p.changeFault(ctx, func() error { return setFault(ctx, api, &f, longest(all)) }); err != nil {
			return err
		}
	}
	Fprintf(progress, "%sWaiting for the verdict. Ctrl-C ends the story.\n", StoryText(story, msisdn))
	return p.judge(ctx, api, all)
}

// StoryText returns what happens in a story, what to do with the number that pays, and what a correct shop does.
func StoryText(story *stories.Story, msisdn string) Lines {
	text := Sprintf("%s\n\n", story.What)
	for i, step := range story.Steps(msisdn) {
		text += Sprintf("%d. %s\n", i+1, step)
	}
	return text + Sprintf("\n%s\n", story.Correct)
}

// afterVerdict is how long the faults of a story outlive its time, if nobody removes them.
const afterVerdict = time.Minute

// longest returns the time within which the last expectation has a verdict.
func longest(all []*expected) (within time.Duration) {
	for _, e := range all {
		within = max(within, e.within+e.settle)
	}
	return min(within+afterVerdict, expectations.MaxWithin)
}

func setFault(ctx context.Context, api *sandboxapi.Client, f *faults.Fault, lasts time.Duration) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		return err
	}
	body["for"] = lasts.String()
	_, err = api.SetFault(ctx, f.Name, body)
	return err
}

// endTimeout bounds the removal of a story's faults, also after an interruption.
const endTimeout = 30 * time.Second

// endStory removes the faults of a story, also if ctx has ended.
func (p *program) endStory(ctx context.Context, api *sandboxapi.Client, story *stories.Story, progress io.Writer) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	for _, f := range story.Faults(time.Time{}) {
		err := p.changeFault(ctx, func() error { return api.RemoveFaults(ctx, f.Name) })
		if err != nil && !sandboxapi.IsNotFound(err) {
			return fmt.Errorf("the fault %s is still on: `%s` removes it. %w", f.Name, p.called("faults off", f.Name), err)
		}
	}
	Fprintf(progress, "The faults of the story are off.\n")
	return nil
}

// changeFault calls change again while the sandbox has too many changes of faults.
func (p *program) changeFault(ctx context.Context, change func() error) error {
	for {
		err := change()
		var refused *sandboxapi.RefusedError
		if !errors.As(err, &refused) || refused.Code != "too_many_changes" {
			return err
		}
		if pause(ctx, max(p.await, refused.RetryAfter)) != nil {
			return err
		}
	}
}

// payerOf returns a number that answers prompts in this way: a test number, or else a test client.
func payerOf(ctx context.Context, api *sandboxapi.Client, does payments.Behavior) (msisdn string, err error) {
	numbers, err := api.TestNumbers(ctx)
	if err != nil {
		return "", err
	}
	for _, n := range numbers {
		if optional(n.Behavior, identity) == string(does) {
			return n.MSISDN, nil
		}
	}
	clients, err := api.Payers(ctx, url.Values{}, listed)
	if err != nil {
		return "", err
	}
	for i := range clients {
		if clients[i].Behavior == string(does) && clients[i].State == "Active" {
			return clients[i].MSISDN, nil
		}
	}
	return "", refusedError{fmt.Errorf("no number of the sandbox has the behavior %s: set spec.testNumbers to Standard", does)}
}
