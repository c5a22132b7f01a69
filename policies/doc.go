// Package policies decides whether a REST call may reach the content platform.
//
// A [call.Call] is what the platform would run. A [caller.Caller] is who the platform
// says is calling. A [Request] joins the two. A [Policy] is one reason to refuse or
// change a call, and a [Verdict] is its answer. The [Chain] asks the policies in the
// fixed order of the [Catalog]; the first enforced refusal wins and becomes the
// [Decision].
//
// A policy is a struct whose exported fields are its JSON configuration. It states what
// it can do by the interfaces that it implements (docs/design 4 lists them): [Provisioner] to
// check its configuration, [Checker] to judge, [AnswerChanger] for what passes, [Router] and
// [Decider] for what reasons about a chain, which knows no policy otherwise. [Configured] is a
// policy with its [Settings], which all policies have.
// An [Option] is one line of the Caddyfile. A [Rule] says who may make which calls, a
// [Target] says which calls.
//
// A [Site] is what the policies of one directive share. Policies put their questions to
// the platform with [caller.Whole.Ask], by way of an [ask.Backend], and keep short-lived
// facts in a [store.Store]. A [Trace] reports each step for log, metrics and
// explanations.
//
// Every file holds one of these concepts or one policy, named as in the Caddyfile; package
// rewrite has the changes of JSON that policies make. To add a policy, write its file and
// add a line to the catalog; docs/CONTRIBUTING.md has the steps.
//
// An error from a policy means "could not decide", never "no". The chain answers such a
// call with 503, unless the owner has set on_error pass.
package policies
