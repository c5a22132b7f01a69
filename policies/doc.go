// Package policies decides whether a REST call may reach the content platform.
//
// The concepts: a [call.Call] is what the platform would run; a [Caller] is who
// the platform would say is calling; a [Policy] is one reason to refuse a call;
// a [Verdict] is its answer; the [Chain] asks the policies in their fixed order
// and the first refusal wins; a [Backend] asks the platform questions; a [Store]
// keeps short-lived facts that gateways share. A [Site] is what the policies of one
// directive share, its [Identities] find out who is calling; a [Rule] says who may
// make which calls, a [Target] which ones; an [Option] is a line of the Caddyfile.
//
// Every file is either one of these concepts or one policy, named as in the
// Caddyfile. To add a policy, write its file and add a line to the catalog;
// docs/CONTRIBUTING.md has the steps.
//
// An error from a policy means "could not decide", never "no": the chain turns
// it into 503, unless the owner chose on_error pass.
package policies
