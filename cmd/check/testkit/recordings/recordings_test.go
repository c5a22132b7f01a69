package recordings

import "testing"

// TestRequests: no outcome of a request is lost when they are merged, and each kind of
// site is there.
func TestRequests(t *testing.T) {
	t.Parallel()
	outcomes := func(list []*Recording) (n int) {
		for _, r := range list {
			n += len(r.Outcomes)
		}
		return n
	}
	all, requests := All(t), Requests(t)
	if len(requests) < 8000 || len(requests) >= len(all) || outcomes(requests) != outcomes(all) {
		t.Errorf("of %d recordings with %d outcomes %d requests with %d", len(all), outcomes(all), len(requests), outcomes(requests))
	}
	honest, families, bases := 0, map[string]int{}, map[string]int{}
	for _, r := range requests {
		families[r.Family()]++
		bases[r.Base()]++
		if r.Honest() {
			honest++
		}
	}
	if honest == 0 || honest == len(requests) || len(families) < 10 || bases[""] == 0 || bases["/blog"] == 0 {
		t.Errorf("%d honest, families %v, bases %v", honest, families, bases)
	}
}
