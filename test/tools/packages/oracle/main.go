// Reads lines of JSON {"constraint", "version"} and answers each with {"constraint", "version", "admits"}: whether the library takes
// the one and the other, and whether the version is in the range.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/Masterminds/semver/v3"
)

type question struct {
	Constraint string `json:"constraint"`
	Version    string `json:"version"`
}

type answer struct {
	Constraint bool `json:"constraint"`
	Version    bool `json:"version"`
	Admits     bool `json:"admits"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		constraint, constraintError := semver.NewConstraint(asked.Constraint)
		version, versionError := semver.NewVersion(asked.Version)
		told := answer{Constraint: constraintError == nil, Version: versionError == nil}
		told.Admits = told.Constraint && told.Version && constraint.Check(version)
		line, _ := json.Marshal(told)
		out.Write(append(line, '\n'))
	}
}
