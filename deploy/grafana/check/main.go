// Checks the alert rules and the queries of the dashboards as Prometheus does: `npm run alerts`. promtool itself needs modules
// of every cloud; its parser of rules needs none of them.
package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

func main() {
	queries := parser.NewParser(parser.Options{})
	groups, faults := rulefmt.ParseFile(
		"../alerts.yml", false, model.LegacyValidation, queries, slog.Default())
	count := 0
	if groups != nil {
		for _, group := range groups.Groups {
			count += len(group.Rules)
		}
	}
	files, _ := filepath.Glob("../dashboards/*.json")
	checked := 0
	for _, file := range files {
		for _, query := range queriesOf(file) {
			plain := strings.ReplaceAll(query, "$__rate_interval", "5m")
			if _, err := queries.ParseExpr(plain); err != nil {
				faults = append(faults, fmt.Errorf("%s: %s: %w", file, query, err))
			}
			checked++
		}
	}
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, fault)
	}
	if len(faults) > 0 || count == 0 || checked == 0 {
		os.Exit(1)
	}
	fmt.Printf("%d alert rules and %d queries of dashboards are valid\n", count, checked)
}

func queriesOf(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	var read dashboard
	if err := json.Unmarshal(text, &read); err != nil {
		panic(err)
	}
	var found []string
	for _, panel := range read.Panels {
		for _, target := range panel.Targets {
			found = append(found, target.Expr)
		}
	}
	return found
}
