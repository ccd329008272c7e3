package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/controllers/localapi"
	"github.com/cauri-dev/cauri/server/stories"
)

// storyMarket returns the story of --story and its market. It returns an error for a name or a country of none.
func (o devOptions) storyMarket() (*stories.Story, stories.Market, error) {
	story := stories.Named(o.story)
	if story == nil {
		return nil, stories.Market{}, fmt.Errorf("--story=%s: there is no such story: `cauri stories` lists them", o.story)
	}
	if o.country != "" {
		return story, story.In(o.countryCode()), nil
	}
	return story, story.Market(), nil
}

// storyManifests returns the resources of the story of --story.
func (o devOptions) storyManifests() (manifests localapi.Manifests, err error) {
	story, market, err := o.storyMarket()
	if err != nil {
		return manifests, err
	}
	sandbox, expectation, err := story.Resources(market)
	if err != nil {
		return manifests, fmt.Errorf("--country=%s: %w", o.country, err)
	}
	var text bytes.Buffer
	for _, resource := range []map[string]any{sandbox, expectation} {
		if err := json.NewEncoder(&text).Encode(resource); err != nil {
			return manifests, err
		}
		text.WriteString("---\n")
	}
	return localapi.Parse("the story "+story.Name, text.Bytes())
}

// tellStory prints what to do in the story of --story.
func (d *dev) tellStory() {
	if d.options.story == "" {
		return
	}
	story, market, err := d.options.storyMarket()
	if err != nil {
		return // the manifests had the same error before
	}
	d.console.say("%s", cli.StoryText(story, story.Number(market)))
}
