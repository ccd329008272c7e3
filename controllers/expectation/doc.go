// Package expectation reconciles Expectations: it hands them to the workers, which evaluate them, and shows the verdict.
package expectation
