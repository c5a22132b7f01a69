package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// complete lets the shell complete the values of a flag.
func complete(cmd *cobra.Command, flag string, words ...string) {
	completeBy(cmd, flag, func(string) []string { return slices.Clone(words) })
}

// completeBy is complete for values that depend on what has been typed.
func completeBy(cmd *cobra.Command, flag string, words func(typed string) []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		other := func(word string) bool { return !strings.HasPrefix(word, typed) }
		return slices.DeleteFunc(words(typed), other), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil { // there is no such flag
		panic(err)
	}
}
