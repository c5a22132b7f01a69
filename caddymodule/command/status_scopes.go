package command

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

// scopeTable prints a line for each scope of the sites.
func scopeTable(out io.Writer, sites []adminapi.Site) error {
	if !slices.ContainsFunc(sites, func(s adminapi.Site) bool { return len(s.Scopes) > 0 }) {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nSITE\tSCOPE\tMODE\tLAST USE\tREFUSALS\tWOULD REFUSE\tLAST DAY") // Flush returns the error
	for i := range sites {
		for _, s := range sites[i].Scopes {
			used, until := "not yet", "none"
			if s.LastUse != nil {
				used = moment(*s.LastUse)
			}
			if s.DaysLeft != nil {
				until = s.Until + ", " + daysLeft(*s.DaysLeft)
			}
			writeCells(w, nameOf(&sites[i]), s.Scope, s.Mode, used, fmt.Sprint(s.Refusals), fmt.Sprint(s.WouldRefuse), until)
		}
	}
	return w.Flush()
}

func daysLeft(n int) string {
	switch {
	case n < 0:
		return "ended"
	case n == 0:
		return "today"
	case n == 1:
		return "1 day left"
	}
	return fmt.Sprintf("%d days left", n)
}
