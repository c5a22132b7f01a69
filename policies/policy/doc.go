// Package policy is the frame of the policies: what one is, what it is asked, and how a chain of them decides.
//
// A [call.Call] is what the platform would run. A [caller.Caller] is who the platform
// says is calling. A [Request] joins the two. A [Policy] is one reason to refuse or
// change a call, and a [Verdict] is its answer. The [Chain] asks the policies in the
// fixed order of the catalog that it is handed; the first enforced refusal wins and becomes the
// [Decision].
//
// The policy call, which refuses what has no certain reading, is part of the frame.
//
// A policy is a struct whose exported fields are its JSON configuration. It states what
// it can do by the interfaces that it implements (docs/project/design 4 lists them): [Provisioner] to
// check its configuration, [Checker] to judge, [AnswerChanger] for what passes, [Router] for the calls that
// its lines name. [Configured] is a policy with its [Settings], which all policies have.
// An [Option] is one line of the Caddyfile. A [Rule] says who may make which calls, a
// [Target] says which calls.
//
// A [Site] is what the policies of one directive share. Policies put their questions to
// the platform with [caller.Whole.Ask], by way of an [ask.Backend], and keep short-lived
// facts in a [store.Store]. What a policy finds out about a request has a [Slot] of the policy's own.
// A [Trace] reports each step for log, metrics and explanations.
//
// An error from a policy means "could not decide", never "no". The chain answers such a
// call with 503, unless the owner has set on_error pass.
package policy
