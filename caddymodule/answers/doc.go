// Package answers has what stands between the platform's answers and who gets them: writers that
// stream an answer to the client, hold it back or show it to a policy, and the answers to the
// gateway's own questions.
package answers
