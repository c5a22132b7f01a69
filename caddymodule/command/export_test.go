package command

// CheckCommand makes the command "check".
var CheckCommand = checkCommand
