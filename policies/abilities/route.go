package abilities

import (
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// runs returns the id of the ability that c runs.
func (p *Abilities) runs(c *call.Call) (id string, runs bool, err error) {
	return RunIn(c, p.namespace)
}

// describes returns the id of the ability that c asks about.
func (p *Abilities) describes(c *call.Call) (id string, describes bool, err error) {
	if strings.HasSuffix(c.Key, runSuffix) {
		return "", false, nil
	}
	return abilityOf(c, p.namespace, "")
}

// runSuffix ends the route by which an ability runs.
const runSuffix = "/run"

// RunIn returns the id of the ability below namespace that c runs.
func RunIn(c *call.Call, namespace string) (id string, runs bool, err error) {
	return abilityOf(c, namespace, runSuffix)
}

// abilityOf returns the id of the ability that c names, in a route with that end. It reads the
// id from the route as sent, since ids differ by case. An id anywhere else is an error: the
// platform would take it from there (docs/platform I.9).
func abilityOf(c *call.Call, namespace, end string) (id string, ok bool, err error) {
	if c.Kind != call.Single || c.Method == http.MethodOptions {
		return "", false, nil
	}
	if _, ok = idIn(c.Key, namespace, end); !ok {
		return "", false, nil
	}
	if _, set, err := c.Scalar("name"); err != nil || set {
		if err == nil {
			err = call.Ambiguous("parameter_outside_path")
		}
		return "", true, err
	}
	return c.Route[len(namespace)+1 : len(c.Route)-len(end)], true, nil
}

// idIn returns the id in the key of a route below namespace with that end.
func idIn(key, namespace, end string) (id string, ok bool) {
	rest, below := strings.CutPrefix(key, namespace+"/")
	id, ends := strings.CutSuffix(rest, end)
	return id, below && ends && rest != ""
}

// validAbility accepts the ids that the platform's route pattern accepts.
func validAbility(id string) bool {
	return strings.Count(id, "/") == 1 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/") == ""
}
