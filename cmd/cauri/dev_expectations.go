package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// sayVerdicts prints the verdict of each Expectation that was decided since the last call.
func (d *dev) sayVerdicts() {
	for _, e := range d.resources.Expectations() {
		run := string(e.UID) + " " + e.Status.ObservedRun
		if e.Status.DecidedAt == nil || d.judged[run] {
			continue
		}
		d.judged[run] = true
		verdict := "is met."
		if failed := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionFailed); failed.Status == metav1.ConditionTrue {
			verdict = "has failed: " + failed.Message
		}
		d.console.say("The expectation %s/%s %s", e.Namespace, e.Name, verdict)
	}
}

// writeExpectations writes the file with the Expectations if they changed since the last call.
func (d *dev) writeExpectations() error {
	if d.options.expectationsFile == "" {
		return nil
	}
	list := v1alpha1.ExpectationList{Items: d.resources.Expectations()}
	list.APIVersion, list.Kind = "v1", "List"
	text, err := json.Marshal(list)
	if err != nil || string(text) == d.written {
		return err
	}
	d.written = string(text)
	return writePrivately(d.options.expectationsFile, d.written)
}
