// Package checkpoint runs LangGraph's own suite for checkpoint savers against ours, in its tests.
package checkpoint
