package rules

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// setFault sets a fault with a name that no other check uses. A sandbox permits ten changes in ten seconds.
func setFault(c *suite.Check, name string, fault suite.Object) suite.Answer {
	r := suite.Request{Method: "PUT", Path: "/faults/" + name, Body: fault}
	a := c.Send(r)
	c.Eventually(func() string {
		if a.Status == http.StatusTooManyRequests {
			a = c.Send(r)
		}
		if a.Status == http.StatusTooManyRequests {
			return a.String()
		}
		return ""
	})
	return a
}

func removeFault(c *suite.Check, name string) (a suite.Answer) {
	c.Eventually(func() string {
		if a = c.Send(suite.Request{Method: "DELETE", Path: "/faults/" + name}); a.Status == http.StatusTooManyRequests {
			return a.String()
		}
		return ""
	})
	return a
}

func needsFaultChanges(c *suite.Check) {
	needsRegistry(c, "fault_changes", suite.Request{Method: "DELETE", Path: "/faults/none"})
}

func faultSet(c *suite.Check) {
	needsFaultChanges(c)
	name := "set-" + strings.ToLower(c.Unique())
	fault := suite.Object{
		"when": suite.Object{"reference": "SET-" + name + "-*", "every": true}, "api": suite.Object{"status": 502}, "for": "5m",
	}
	c.Fields("the fault", c.Expect(setFault(c, name, fault), http.StatusOK), suite.Object{"name": name, "source": "api", "times": 0})
	request := suite.Request{
		Method: "POST", Path: "/payments",
		Body: c.Collection(suite.MtnRW, suite.Object{"reference": "SET-" + name + "-1", "scenario": "success"}),
	}
	c.Eventually(func() string { // every process reads it within a second
		if a := c.Send(request); a.Status != http.StatusBadGateway || a.Header.Get("X-Cauri-Fault") != name {
			return a.String() + ", want the fault"
		}
		return ""
	})
	c.Eventually(func() string {
		for _, listed := range c.Items(c.Expect(c.Get("/faults"), http.StatusOK)) {
			if listed["name"] == name && fmt.Sprint(listed["times"]) != "0" && listed["lastTime"] != nil {
				return ""
			}
		}
		return "the fault is not listed with what it did"
	})
	if a := removeFault(c, name); a.Status != http.StatusNoContent {
		c.Problem("%s, want 204", a)
	}
	c.Refused(removeFault(c, name), http.StatusNotFound, "not_found")
	c.Eventually(func() string {
		if a := c.Send(request); a.Header.Get("X-Cauri-Fault") != "" {
			return a.String() + ", and the fault is removed"
		}
		return ""
	})
}

func faultSetRefused(c *suite.Check) {
	needsFaultChanges(c)
	name := "set-" + strings.ToLower(c.Unique())
	drop := suite.Object{"webhook": suite.Object{"drop": true}}
	c.FieldsRefused(setFault(c, name, suite.Changed(drop, suite.Object{"for": "25h"})), "for")
	c.FieldsRefused(setFault(c, name, suite.Object{"api": suite.Object{"status": 200}}), "api.status")
	c.FieldsRefused(setFault(c, name, suite.Object{"webhook": suite.Object{"duplicate": 99}}), "webhook.duplicate")
	c.Refused(removeFault(c, name), http.StatusNotFound, "not_found")
	for _, listed := range c.Items(c.Expect(c.Get("/faults"), http.StatusOK)) {
		if listed["source"] == "spec" {
			c.Refused(setFault(c, fmt.Sprint(listed["name"]), drop), http.StatusConflict, "managed_by_resource")
			return
		}
	}
}
