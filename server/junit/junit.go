// Package junit writes reports in the format of JUnit, which CI systems read.
package junit

import "encoding/xml"

// Report is a file with suites. Package xml replaces characters that XML does not allow.
type Report struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []Suite  `xml:"testsuite"`
}

// Suite is a group of cases. [Suite.Add] keeps its counts.
type Suite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr,omitempty"` // in seconds
	Cases    []Case `xml:"testcase"`
}

// Case is one test. Failure and Skipped are nil for one that passed.
type Case struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Time    string   `xml:"time,attr,omitempty"` // in seconds
	Failure *Failure `xml:"failure"`
	Skipped *Skipped `xml:"skipped"`
}

// Failure says why a case failed.
type Failure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Skipped says why a case does not count.
type Skipped struct {
	Message string `xml:"message,attr"`
}

// Add adds a case.
func (s *Suite) Add(c Case) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
}

// Encode returns the file.
func (r Report) Encode() ([]byte, error) {
	text, err := xml.MarshalIndent(r, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}
