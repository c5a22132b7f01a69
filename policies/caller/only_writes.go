package caller

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
)

// interpret reads the answer to the question q. A key that may only write is refused in the language of the site. For
// OPTIONS the shop takes every key that it knows, and the core says in Allow what its user may do there, to nobody else
// (docs/platform III.8).
func (i *inquiry) interpret(ctx context.Context, a *ask.Answer, q *ask.Question) (identity, error) {
	who, err := interpret(a, i.claim, q, &i.site.Platform)
	if err != nil || who.answer == nil || i.claim != ClaimKey && i.claim != ClaimTool || !who.answer.MayOnlyWrite() {
		return who, err
	}
	if err := i.count(); err != nil {
		return identity{}, err
	}
	options := i.question
	options.Method, options.Query = http.MethodOptions, "_fields=namespace"
	described, err := i.put(ctx, options)
	if err != nil {
		return identity{}, err
	}
	var route struct {
		Namespace string `json:"namespace"`
	}
	if described.Status == http.StatusOK && described.Header.Get("Allow") != "" && json.Unmarshal(described.Body, &route) == nil && route.Namespace == i.site.Platform.Shop[2] {
		return identity{caller: Caller{Kind: KeyHolder}}, nil
	}
	return who, nil
}
