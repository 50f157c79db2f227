package roomnode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rules are the numbered rules of a room that docs/rules.md lists. A rule is shown by the
// transcripts that are named after it, and by the tests given here.
var rules = []struct {
	number, says string
	tests        []string
}{
	{"1.1", "The @ comes first; anywhere else it is prose", nil},
	{"1.2", "A token resolves exactly, else case folded, else without trailing punctuation", nil},
	{"1.3", "The run of tokens ends at the first that does not resolve; repeats collapse; the rest is the message", nil},
	{"1.4", "A first token that names nobody gets the roster back", nil},
	{"1.5", "Addressees without a message get a hint", nil},
	{"1.6", "The cast is fixed before the first dispatch", nil},
	{"1.7", "What is offered for completion resolves to itself", []string{"room.TestComplete"}},
	{"1.8", "@all and @others stand for members of the thread, else of the roster", []string{"room.TestExpand"}},
	{"2.1", "Text stays raw, who said it stands beside it", []string{"roomnode.TestHostileTexts"}},
	{"2.2", "A room message has role human", []string{"room.TestNewReply"}},
	{"2.3", "A model reads a room message in an envelope that no text can forge", []string{"room.TestEnvelope", "room.FuzzEnvelope"}},
	{"2.4", "The address is written first, replies as they arrive; what a dead process left open is closed",
		[]string{"exchange.TestDiesAnywhere", "exchange.TestKilledProcess", "exchange.TestSweep"}},
	{"2.5", "A failed dispatch is recorded from its member", nil},
	{"2.6", "Later rounds do not write the address again", nil},
	{"2.7", "A write that fails is retried, then told", []string{"exchange.TestStoreGoesAway", "exchange.TestThreadIsLost"}},
	{"2.8", "Replies are trimmed; an empty one in a single round writes nothing and is told", nil},
	{"2.9", "Incognito is stamped and its content stays out of everything else", []string{"exchange.TestIncognitoStaysIn"}},
	{"3.1", "The window starts after what the member's newest reply had seen", nil},
	{"3.2", "Who the author of a message is", nil},
	{"3.3", "Only the room writes a [ in column 0", []string{"roomnode.FuzzHostileTexts", "room.FuzzWindow"}},
	{"3.4", "The window is bounded from the newest end, by messages and by characters", nil},
	{"3.5", "The address is left out while nothing follows it", nil},
	{"3.6", "An empty window, and when nothing new is said", nil},
	{"3.7", "A truncated window says so", nil},
	{"3.8", "The order of the prompt", nil},
	{"3.9", "Reading a window costs the window, however long the thread", []string{"exchange.TestCost", "exchange.TestShipped"}},
	{"3.10", "Files go with a message, and come with a reply",
		[]string{"exchange.TestFiles", "room.TestFileStead", "cmd/langrooms.TestAttach", "cmd/langrooms.TestSave"}},
	{"4.1", "The cap, and that one member is one round", nil},
	{"4.2", "Exhausted, settled, capped, in this order", nil},
	{"4.3", "A member that failed is out", nil},
	{"4.4", "Silence is known only where another round is possible", nil},
	{"4.5", "What is silence", []string{"room.TestSilent"}},
	{"4.6", "Nothing else is read out of a reply", nil},
	{"4.7", "At most cap × members dispatches, without a clock", []string{"exchange.TestNoClock"}},
	{"4.8", "Side by side: the first round over one window, its records in written order",
		[]string{"exchange.TestSideBySideTakesOneMembersTime", "exchange.TestSideBySideStopsAnywhere", "exchange.TestSideBySideTellsWhoHasAnswered"}},
	{"4.9", "The cost bound of a message", []string{"exchange.TestMaxCost", "delegate/delegatetool.TestMaxCost"}},
	{"5.1", "The text that the operator gets", nil},
	{"5.2", "The notes and their order", nil},
	{"5.3", "The same facts, structured", []string{"roomnode.TestTranscripts", "exchange.TestOutcomeTellsTheCost"}},
	{"5.4", "Events, in order", []string{"roomnode.TestTranscripts"}},
	{"5.5", "Stopping a turn", []string{"exchange.TestStoppedAnywhere"}},
	{"5.6", "What was spent: by answer, by member, in all; unknown is not zero",
		[]string{"exchange.TestCostsStay", "exchange.TestCostOfALateAnswer", "nodes/leadnode.TestCostOfTheLead", "cmd/langrooms.TestCosts"}},
	{"5.7", "Stopping one member", []string{"delegate.TestSteering", "runs.TestStopMember", "cmd/langrooms.TestStopOneMember"}},
	{"6", "Names, refused entries; every error names the delegate and has a kind",
		[]string{"delegate.TestCheckName", "delegate.TestRegistryKeepsOrderAndRefusesASecondName", "delegate.TestErrorIsWhatTheOperatorIsTold", "setup.TestEntryIsLeftOut"}},
	{"6 instructions", "What a member is told of its part, once, where nothing can pass for it",
		[]string{"cmd/langrooms.TestInstructions", "room.TestInstructions", "delegate/delegatetest.TestABrokenDelegateFailsUnderTheRulesName"}},
	{"6 secrets", "Secrets come from a value or an environment name and reach nothing that is shown",
		[]string{"cmd/langrooms.TestSecrets", "delegate/a2aagent.TestHalfACredential", "delegate/acpagent.TestSecretsAreBlottedOut", "delegate/openaiagent.TestTheKeyInPiecesIsNotShown", "delegate/openaiagent.TestKeyIsResolvedAtUse"}},
	{"6 a2a", "Both versions and bindings; the state decides",
		[]string{"delegate/a2aagent.TestConformance", "delegate/a2aagent.TestStates", "delegate/a2aagent.TestAnswers", "delegate/a2aagent.TestFailures", "delegate/a2aagent.TestChoose", "delegate/a2aagent.TestMissingCard", "delegate/a2aagent.TestJavaScriptSDK", "delegate/a2aagent.TestMockLLM"}},
	{"6 a2a waiting", "The rhythm of looks, what counts as progress, the hard limit of a call, a subscription that wakes it",
		[]string{"delegate/a2aagent.TestSchedule", "delegate/a2aagent.TestMaterialChange", "delegate/a2aagent.TestTimeout", "delegate/a2aagent.TestSubscription"}},
	{"6 a2a origin", "Nothing leaves the origin of the configured url",
		[]string{"delegate/a2aagent.TestElsewhere"}},
	{"6 openai", "Stateless, temperature 0 kept, errors in an answer, streams",
		[]string{"delegate/openaiagent.TestConversationAndResumeAreRefused", "delegate/openaiagent.TestRequestIsWhatTheConfigSays", "delegate/openaiagent.TestFailuresOfTheAnswer", "delegate/openaiagent.TestStreamIsProgress", "delegate/openaiagent.TestTimeout", "delegate/openaiagent.TestSuite", "delegate/openaiagent.TestAgainstMockLLM"}},
	{"6 acp", "One process for each launch and conversation, ended as a whole tree; sessions are loaded",
		[]string{"delegate/acpagent.TestOneProcessForEachConversation", "delegate/acpagent.TestStopEndsTheWholeTree", "delegate/acpagent.TestCloseEndsTheWholeTree", "delegate/acpagent.TestSessionIsLoadedAfterARestart", "delegate/acpagent.TestSessionThatKillsTheAgentIsGivenUp", "delegate/acpagent.TestSuite", "delegate/acpagent.TestTypeScriptAgent", "cmd/langrooms.TestRemovedDelegateLosesItsProcess"}},
	{"6 acp permissions", "Permission requests are answered by policy and kind",
		[]string{"delegate/acpagent.TestPermissionTable", "delegate/acpagent.TestPermissionRequestsAreAnsweredByPolicy", "delegate/acpagent.TestPermissionAnswerFitsTheOptions", "delegate/acpagent.TestKindOfALateToolCall"}},
	{"6 acp answers", "A cut answer is marked incomplete; only message chunks are the answer",
		[]string{"delegate/acpagent.TestStopReasons", "delegate/acpagent.TestAnswerIsTheMessageChunksInParagraphs"}},
	{"6 probes", "A probe costs the peer nothing; what asks showed is kept",
		[]string{"delegate/a2aagent.TestProbe", "delegate/openaiagent.TestProbeListsModels", "delegate/acpagent.TestProbeOpensASession", "delegate.TestHealthView", "exchange.TestHealth", "setup.TestHealth"}},
	{"7.1", "What is remembered is keyed by thread, name, url and principal; 512 entries",
		[]string{"delegate.TestContinuityIsKeyedByThreadNamePeerAndPrincipal", "delegate.TestTheCredentialIsNotInItsDigest", "delegate.TestTheLeastRecentlyUsedGoesFirst"}},
	{"7.2", "A context id is echoed, never invented, and learnt from words only",
		[]string{"delegate/a2aagent.TestContinuity", "delegate.TestSettle", "delegate.TestAPeerThatSharesAnIDBetweenThreads"}},
	{"7.3", "When it is dropped and when it is kept",
		[]string{"delegate.TestSettle", "delegate.TestAnIDOfAnErasedEpochIsNotEchoed", "lifecycle.TestRewind", "lifecycle.TestDelete", "lifecycle.TestForkForgetsUnderTheLease", "lifecycle.TestCompact"}},
	{"7.4", "With durable continuity a restart or another process carries on",
		[]string{"durable.TestContextsAreShared", "durable.TestRotatedCredential", "durable.TestOtherEpochsGo", "setup.TestRemovedMemberBeginsAnew", "late.TestResumeAfterARestart", "setup.TestContinuityIsSwitched", "cmd/langrooms.TestDurableContinuity", "cmd/langrooms.TestMemoryContinuity"}},
	{"7.5", "Late answers: rhythm, outcomes, withdrawals, once",
		[]string{"late.TestCollectionRhythm", "late.TestCollectionOutcomes", "late.TestWithdrawals", "late.TestARewindBeforeTheClaimWins", "late.TestTheNewerTaskReplacesTheOlder", "late.TestLateOutcomes", "late.TestUnknownTaskIsQuiet", "late.TestIncognitoWakesNobody", "late.TestResumeBesideTheFirst", "late.TestClaimedByTheLead", "late.TestALatePass", "late.TestWhatIsReadyIsTakenUpFirst", "late.TestASlowReaderStallsNobody", "delegate/a2aagent.TestRejoinLeavesANewerConversation", "cmd/langrooms.TestOneTurnTakesUpWhatIsReady", "cmd/langrooms.TestLateAnswerLandsOnce"}},
	{"7.6", "A pause is a reply; only resume_task_id and /answer answer it",
		[]string{"delegate/a2aagent.TestStates", "delegate/a2aagent.TestResume", "delegate/delegatetool.TestResume", "nodes/roomnode.TestAnswer", "cmd/langrooms.TestPause", "cmd/langrooms.TestTerminalAnswersAParkedTask"}},
	{"8", "delegate_to: foreground, background, resume, timeout; words for the model, never a crash",
		[]string{"delegate/delegatetool.TestForeground", "delegate/delegatetool.TestAnswers", "delegate/delegatetool.TestRefusals", "delegate/delegatetool.TestBackground", "delegate/delegatetool.TestResume", "delegate/delegatetool.TestResumeClaims", "delegate/delegatetool.TestDescriptionFollowsTheRoster", "late.TestBackgroundOutcomes", "cmd/langrooms.TestLeadDelegates"}},
	{"9", "The lead is told who has spoken, by one block at the end of its system prompt",
		[]string{"room.TestCast", "room.TestCastBlock", "middleware/cast.TestBlockEndsTheSystemPrompt", "middleware/cast.TestNoCast", "middleware/cast.TestNotStacked", "cmd/langrooms.TestLeadSeesTheRoom"}},
	{"10", "Knobs have defaults and ceilings; a broken file keeps the last good one; a running turn keeps its values",
		[]string{"room.TestLimitsClamp", "room.TestClampRounds", "hotreload.TestCorpus", "hotreload.TestFaultKeepsTheLastGood", "cmd/langrooms.TestRunningTurnKeepsItsValues"}},
	{"11", "Rewind, delete, fork, compact, export, import; what is erased does not come back",
		[]string{"lifecycle.TestRewind", "lifecycle.TestDelete", "lifecycle.TestFork", "lifecycle.TestCompactKeepsCastAndPlaces", "lifecycle.TestWaitsForAnotherProcess", "exchange.TestDispatchCarriesTheLease", "cmd/langrooms.TestLifecycle", "cmd/langrooms.TestErasedUnderARunningProcess"}},
}

const rulesFile = "../../docs/rules.md"

// TestRules compares docs/rules.md with the transcripts and tests that there are. Every rule
// is said there, and shown by at least one.
func TestRules(t *testing.T) {
	have, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(have), rulesTable)
	var b strings.Builder
	b.WriteString(text + rulesTable)
	for _, r := range rules {
		checkText(t, text, r.number)
		var shown []string
		for _, file := range transcripts(t) {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			if title, ok := strings.CutPrefix(name, r.number+"_"); ok {
				shown = append(shown, fmt.Sprintf("[%s](../nodes/roomnode/testdata/%s)", strings.ReplaceAll(title, "_", " "), filepath.Base(file)))
			}
		}
		for _, test := range r.tests {
			checkTest(t, test)
			shown = append(shown, "`"+test+"`")
		}
		if len(shown) == 0 {
			t.Errorf("rule %s: nothing shows it", r.number)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.number, r.says, strings.Join(shown, ", "))
	}
	if *update {
		have = []byte(b.String())
		if err := os.WriteFile(rulesFile, have, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(have), b.String()); diff != "" {
		t.Errorf("docs/rules.md is out of date, run go test ./nodes/roomnode -update (-file +now):\n%s", diff)
	}
}

// rulesTable heads the part of the page that is derived.
const rulesTable = "| rule | what it says | shown by |\n| --- | --- | --- |\n"

// checkText fails t unless the text says the rule, where a comment's reader will look for it.
func checkText(t *testing.T, text, number string) {
	t.Helper()
	place := "\n**" + number + "** "
	if !strings.ContainsAny(number, ". ") {
		place = "\n## " + number + ". "
	}
	if strings.Count(text, place) != 1 {
		t.Errorf("docs/rules.md does not say rule %s once", number)
	}
}

// checkTest fails t unless there is a test of this name, PACKAGE.TestName.
func checkTest(t *testing.T, name string) {
	t.Helper()
	pkg, fn, _ := strings.Cut(name, ".")
	dir := "../../" + pkg
	if pkg == "roomnode" {
		dir = "."
	}
	files, err := filepath.Glob(dir + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	decl := regexp.MustCompile(`(?m)^func ` + fn + `\(`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if decl.Match(data) {
			return
		}
	}
	t.Errorf("there is no test %s", name)
}
