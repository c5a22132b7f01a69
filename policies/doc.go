// Package policies decides whether a REST call may reach the content platform. It is the [Catalog] of the
// policies, each named as in the Caddyfile.
//
// A policy of one file stands here. A policy of several is a package beside it, as is what policies are made of:
// package policy is the frame, call reads requests, caller says who is calling, ask puts questions to the
// platform, and review reasons about a configuration; docs/project/design 4 lists them all. To add a policy, write its
// file and add a line to the catalog; .github/CONTRIBUTING.md has the steps.
package policies
