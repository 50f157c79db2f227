package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browsing is how long a step in the browser may take on a busy machine.
const browsing = 40 * time.Second

// browser is one window of Chromium. Things are found in it as a screen reader finds them, by
// role and accessible name.
type browser struct {
	t   testing.TB
	ctx context.Context
}

// chromium is the program, or "" where there is none.
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// browse opens a window of a browser of its own at an address.
func browse(t testing.TB, url string) *browser {
	t.Helper()
	path := chromium()
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no Chromium: apt-get install chromium")
		}
		t.Skip("there is no Chromium: apt-get install chromium")
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Headless,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 800), chromedp.Flag("enable-blink-features", "ComputedAccessibilityInfo"),
		chromedp.Flag("disable-quic", true), chromedp.Flag("no-first-run", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("lang", "en-GB"), chromedp.Flag("force-prefers-reduced-motion", true))
	t.Cleanup(cancel)
	return window(t, ctx, url)
}

// second opens another window of the same browser.
func (b *browser) second(url string) *browser {
	b.t.Helper()
	return window(b.t, b.ctx, url)
}

func window(t testing.TB, parent context.Context, url string) *browser {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(func() {
		if chromedp.Cancel(ctx) != nil {
			cancel()
		}
	})
	b := &browser{t, ctx}
	if err := chromedp.Do(ctx); err != nil { // the window lives as long as the context of its first step
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(url))
	return b
}

// do takes steps; one that fails fails the test.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browsing)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns what an expression of the page comes to.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browsing)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// finder has the page's functions by which things are found. What cannot have a role is not
// asked for it: in a page of thousands of messages that takes the browser seconds.
const finder = `(() => {
  const can = { button: "button,summary,[role=button]", article: "article", link: "a", textbox: "input,textarea", listbox: "[role=listbox]", option: "[role=option]",
    menuitem: "[role=menuitem]", spinbutton: "input", checkbox: "input", radio: "input", combobox: "input,select,[role=combobox]", log: "[role=log]", navigation: "nav", form: "form", dialog: "dialog", alert: "[role=alert]", group: "[role=group]" };
  const all = (role, name) => [...document.querySelectorAll(can[role] ?? "body *")].filter((e) => e.computedRole === role && (name === null || e.computedName === name));
  return { all, one: (role, name) => all(role, name)[0] };
})()`

// until waits for an expression of the page to be true.
func (b *browser) until(what, expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browsing)
	defer cancel()
	// The page's policy has no eval, so the waiting is in the expression itself.
	wait := `(async () => {
  const find = ` + finder + `;
  for (const end = Date.now() + 30000; Date.now() < end; await new Promise((f) => setTimeout(f, 50))) if (` + expression + `) return true;
  return false;
})()`
	if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](wait, chromedp.EvalAwaitPromise)); err != nil || !ok {
		text := eval[string](b, `document.querySelectorAll("article").length > 300 ? "a long thread" : document.body.innerText.slice(0, 3000)`)
		b.t.Fatalf("%s: %v; the page:\n%s", what, err, text)
	}
}

// sees waits for a thing of a role and a name.
func (b *browser) sees(role, name string) {
	b.t.Helper()
	b.until(fmt.Sprintf("no %s %q", role, name), fmt.Sprintf("find.one(%q, %q)", role, name))
}

// says waits for an article of an author that holds a text.
func (b *browser) says(author, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("%s does not say %q", author, text),
		fmt.Sprintf(`find.all("article", %q).some((e) => e.getAttribute("aria-busy") !== "true" && e.innerText.includes(%q))`, author, text))
}

// click presses a thing of a role and a name once it can be.
func (b *browser) click(role, name string) {
	b.t.Helper()
	b.until(fmt.Sprintf("no %s %q to press", role, name), fmt.Sprintf("find.one(%q, %q) && !find.one(%q, %q).disabled", role, name, role, name))
	eval[bool](b, fmt.Sprintf("%s.one(%q, %q).click(), true", finder, role, name))
}

// types writes into a field as a person does.
func (b *browser) types(role, name, text string) {
	b.t.Helper()
	b.sees(role, name)
	eval[bool](b, fmt.Sprintf("%s.one(%q, %q).focus(), true", finder, role, name))
	b.do(chromedp.KeyEvent(text))
}

// fills replaces what stands in a field.
func (b *browser) fills(role, name, text string) {
	b.t.Helper()
	b.sees(role, name)
	eval[bool](b, fmt.Sprintf("(() => { const e = %s.one(%q, %q); e.focus(); e.select(); return true; })()", finder, role, name))
	b.do(chromedp.KeyEvent(text))
}

// value is what stands in a field.
func (b *browser) value(role, name string) string {
	b.t.Helper()
	b.sees(role, name)
	return eval[string](b, fmt.Sprintf("%s.one(%q, %q).value", finder, role, name))
}

// say sends a message by the composer.
func (b *browser) say(text string) {
	b.t.Helper()
	b.types("textbox", "Message", text)
	b.click("button", "Send")
}

// shoot keeps a picture of the window in the folder that LANGROOMS_SCREENSHOTS names.
func (b *browser) shoot(name string) {
	b.t.Helper()
	folder := os.Getenv("LANGROOMS_SCREENSHOTS")
	if folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, browsing)
	defer cancel()
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), data, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// count is how many things of a role and a name there are.
func (b *browser) count(role, name string) int {
	b.t.Helper()
	n, err := strconv.Atoi(eval[string](b, fmt.Sprintf("String(%s.all(%q, %q).length)", finder, role, name)))
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// key is one key, or several.
func key(keys string) chromedp.Action[chromedp.Void] { return chromedp.KeyEvent(keys) }

func chromedpReload() chromedp.Action[chromedp.Void] { return chromedp.Reload() }

// goTo opens an address in the window, from another page, so that it is loaded anew.
func (b *browser) goTo(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url))
}

// menu opens the menu of an author's nth message and takes an action, or leaves it open.
func (b *browser) menu(author string, n int, action string) {
	b.t.Helper()
	b.until("no message of "+author, fmt.Sprintf(`find.all("article", %q).length > %d`, author, n))
	eval[bool](b, fmt.Sprintf(`%s.all("article", %q)[%d].querySelector(".menu button").click(), true`, finder, author, n))
	if action != "" {
		b.click("menuitem", action)
	}
}
