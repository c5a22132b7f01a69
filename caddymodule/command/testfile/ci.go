package testfile

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/routing"
)

// JUnit writes r as the XML that Jenkins and GitLab read: a suite for each file.
func (r *Report) JUnit(w io.Writer) error {
	all := suites{Tests: len(r.Tests), Failures: r.Failed}
	for i := range r.Tests {
		o := &r.Tests[i]
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != o.File {
			all.Suites = append(all.Suites, suite{Name: o.File})
		}
		s := &all.Suites[len(all.Suites)-1]
		c := testCase{Name: printable(o.Name), Class: o.File, File: o.File, Line: o.Line}
		s.Tests++
		if o.Status != Passed {
			s.Failures++
			var b strings.Builder
			fmt.Fprintf(&b, "%s: %s\n", o.Position, o.Message())
			for _, line := range o.lines() {
				b.WriteString(line + "\n")
			}
			c.Failure = &failure{Message: printable(o.Message()), Type: string(o.Status), Text: printable(b.String())}
		}
		s.Cases = append(s.Cases, c)
	}
	text, err := xml.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Suites   []suite  `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Cases    []testCase `xml:"testcase"`
}

type testCase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	File    string   `xml:"file,attr"`
	Line    int      `xml:"line,attr"`
	Failure *failure `xml:"failure"`
}

type failure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// printable leaves out what XML cannot have.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0xfffe || c == 0xffff {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
}

// GitHub writes the commands with which a step of GitHub Actions annotates lines of files,
// and the number of tests as its last line.
func (r *Report) GitHub(w io.Writer) error {
	var b strings.Builder
	for i := range r.Tests {
		if o := &r.Tests[i]; o.Status != Passed {
			fmt.Fprintf(&b, "::error file=%s,line=%d,title=%s::%s\n",
				property.Replace(o.File), o.Line, property.Replace(o.Name), data.Replace(strings.TrimSpace(o.Message()+"\n"+o.Curl)))
		}
	}
	for _, rule := range r.Untested {
		at := ""
		if file, line := routing.SplitPlace(rule.At); line > 0 {
			at = fmt.Sprintf(" file=%s,line=%d", property.Replace(file), line)
		}
		fmt.Fprintf(&b, "::notice%s::%s\n", at, data.Replace("No test was decided by: "+rule.Rule))
	}
	fmt.Fprintf(&b, "%d passed, %d failed\n", r.Passed, r.Failed)
	_, err := io.WriteString(w, b.String())
	return err
}

// The escapes of workflow commands.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
