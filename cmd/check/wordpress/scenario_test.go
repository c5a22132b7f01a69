//go:build wordpress

package wordpress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// scenario is what the browser does. Every step ends where a person would see
// that it worked.
var scenario = []struct {
	name    string
	visitor bool // in the tab of a visitor
	refused bool // the step is about a refusal: nothing to do where nothing is refused
	run     func(*visit, context.Context) error
}{
	{name: "log in", run: (*visit).logIn},
	{name: "open the block editor", run: (*visit).openEditor},
	{name: "write a post", run: (*visit).writePost},
	{name: "autosave", run: (*visit).autosave},
	{name: "upload an image of 20 MB", run: (*visit).uploadImage},
	{name: "publish", run: (*visit).publish},
	{name: "read the post", visitor: true, run: (*visit).readPost},
	{name: "load wp-api", run: (*visit).loadWPAPI},
	{name: "load wp-api as a visitor", visitor: true, refused: true, run: (*visit).loadWPAPIAsVisitor},
	{name: "open the widgets screen", run: (*visit).openWidgets},
	{name: "upload in the media library", run: (*visit).uploadToLibrary},
	{name: "change the permalinks", run: (*visit).changePermalinks},
	{name: "log out", run: (*visit).logOut},
	{name: "REST is closed", refused: true, run: (*visit).restIsClosed},
	{name: "choose consent", visitor: true, run: (*visit).chooseConsent},
}

// goTo opens one of WordPress's own screens.
func (v *visit) goTo(path string) chromedp.Action[chromedp.Void] {
	return chromedp.Navigate(v.gate.url(v.gate.Site.Core + path))
}

// script runs JavaScript that may be asynchronous.
func script[T any](ctx context.Context, js string) (T, error) {
	return chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
}

// until waits for a JavaScript condition.
func until(condition string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingTimeout(stepLimit))
}

func (v *visit) logIn(ctx context.Context) error {
	admin := v.gate.Site.Accounts["administrator"]
	return chromedp.Do(ctx,
		v.goTo("/wp-login.php"),
		chromedp.WaitVisible(chromedp.CSS("#user_login")),
		until("document.activeElement.id === 'user_login'"), // the form focuses late
		chromedp.SendKeys(chromedp.CSS("#user_login"), admin.Login),
		chromedp.SendKeys(chromedp.CSS("#user_pass"), admin.Password),
		chromedp.Click(chromedp.CSS("#wp-submit")),
		chromedp.WaitVisible(chromedp.CSS("#wpadminbar")),
		chromedp.WaitVisible(chromedp.CSS("#dashboard-widgets")),
	)
}

func (v *visit) openEditor(ctx context.Context) error {
	return chromedp.Do(ctx,
		v.goTo("/wp-admin/post-new.php"),
		chromedp.WaitVisible(chromedp.CSS(".editor-post-title__input")),
		until("wp.data.select('core').getEntityRecords('taxonomy', 'category', {per_page: -1}) !== undefined || wp.data.select('core/editor').getCurrentPostId() > 0"),
		// The guide covers the page on the first visit.
		chromedp.Evaluate[chromedp.Void]("void wp.data.dispatch('core/preferences').set('core/edit-post', 'welcomeGuide', false)"),
		chromedp.WaitNotPresent(chromedp.CSS(".edit-post-welcome-guide")),
	)
}

func (v *visit) title() string { return "Written behind " + v.gate.Name }

func (v *visit) writePost(ctx context.Context) error {
	return chromedp.Do(ctx,
		chromedp.Click(chromedp.CSS(".editor-post-title__input")),
		chromedp.KeyEvent(v.title()+"\r"),
		chromedp.KeyEvent("A paragraph from a real browser."),
		until("wp.data.select('core/editor').getEditedPostContent().includes('real browser')"),
		chromedp.Click(chromedp.CSS(".editor-post-save-draft")),
		chromedp.WaitVisible(chromedp.CSS(".editor-post-saved-state.is-saved")),
	)
}

// autosave changes the post and has the editor save it by itself, as it does
// every minute.
func (v *visit) autosave(ctx context.Context) error {
	err := chromedp.Do(ctx, chromedp.KeyEvent(" And one more sentence."), until("wp.data.select('core/editor').isEditedPostAutosaveable()"))
	if err != nil {
		return err
	}
	if _, err := script[chromedp.Void](ctx, "wp.data.dispatch('core/editor').autosave().then(() => undefined)"); err != nil {
		return err
	}
	failed, err := script[bool](ctx, "wp.data.select('core/editor').didPostSaveRequestFail()")
	if err == nil && failed {
		err = fmt.Errorf("the editor says that saving failed")
	}
	return err
}

// uploadImage drops an image into a block, which sends it to the REST interface.
func (v *visit) uploadImage(ctx context.Context) error {
	const block = "wp.data.select('core/block-editor').getBlocks().find((b) => b.name === 'core/image')"
	err := chromedp.Do(ctx,
		chromedp.Evaluate[chromedp.Void]("void wp.data.dispatch('core/block-editor').insertBlocks(wp.blocks.createBlock('core/image'))"),
		chromedp.WaitReady(chromedp.CSS(".wp-block-image input[type=file]")),
		chromedp.SetUploadFiles(chromedp.CSS(".wp-block-image input[type=file]"), []string{v.image}),
		until(block+".attributes.id > 0"),
		chromedp.WaitVisible(chromedp.CSS(".wp-block-image img")),
		until("[...document.querySelectorAll('.wp-block-image img')].some((i) => i.complete && i.naturalWidth > 0)"),
	)
	if err != nil {
		return err
	}
	size, err := script[int](ctx, "wp.apiFetch({path: '/wp/v2/media/' + "+block+".attributes.id}).then((m) => m.media_details.filesize)")
	if err == nil && size < imageSize {
		err = fmt.Errorf("%d bytes arrived", size)
	}
	return err
}

func (v *visit) publish(ctx context.Context) error {
	const button = "document.querySelector('.editor-post-publish-panel .editor-post-publish-button')"
	return chromedp.Do(ctx,
		chromedp.Click(chromedp.CSS(".editor-post-publish-panel__toggle")),
		chromedp.WaitVisible(chromedp.CSS(".editor-post-publish-panel .editor-post-publish-button")),
		// The panel still moves and loads; a click at a point might miss.
		until("!wp.data.select('core/editor').isSavingPost() && "+button+".getAttribute('aria-disabled') !== 'true'"),
		chromedp.Evaluate[chromedp.Void]("void "+button+".click()"),
		chromedp.WaitVisible(chromedp.CSS(".post-publish-panel__postpublish")),
	)
}

func (v *visit) readPost(ctx context.Context) error {
	link, err := script[string](v.admin, "wp.data.select('core/editor').getPermalink()")
	if err != nil {
		return err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("article h1"))); err != nil {
		return err
	}
	text, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("article")))
	if err == nil && (!strings.Contains(text, v.title()) || !strings.Contains(text, "And one more sentence.")) {
		err = fmt.Errorf("the post reads %q", text)
	}
	return err
}

// openWPAPI opens a page with the core's script wp-api, which reads the index of the core's
// namespace with the login cookie and no nonce, and waits until the gateway has decided so.
func (v *visit) openWPAPI(ctx context.Context, decision string) error {
	page := v.gate.url(fmt.Sprintf("/?page_id=%d&standin_wp_api=1", v.gate.Site.Page))
	if err := chromedp.Do(ctx, chromedp.Navigate(page), until("window.wp?.api?.loadPromise !== undefined")); err != nil {
		return err
	}
	for !v.readIndex(decision) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the index: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// readIndex tells whether the browser has read the index with this decision.
func (v *visit) readIndex(decision string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(v.seen, func(r response) bool {
		return strings.HasSuffix(r.url, "/wp/v2/") && strings.TrimSpace(r.decision) == "call "+decision
	})
}

// loadWPAPI is that the script builds its models for somebody who is logged in.
func (v *visit) loadWPAPI(ctx context.Context) error {
	if err := v.openWPAPI(ctx, "pass"); err != nil {
		return err
	}
	built, err := script[bool](ctx, "wp.api.loadPromise.then(() => wp.api.models.Post !== undefined)")
	if err == nil && !built {
		err = errors.New("there is no model of posts")
	}
	return err
}

func (v *visit) loadWPAPIAsVisitor(ctx context.Context) error {
	if err := v.openWPAPI(ctx, "refused rest_not_logged_in"); err != nil {
		return err
	}
	state, err := script[string](ctx, "wp.api.loadPromise.state()")
	if err == nil && state == "resolved" {
		err = errors.New("the script has loaded")
	}
	return err
}

func (v *visit) openWidgets(ctx context.Context) error {
	return chromedp.Do(ctx,
		v.goTo("/wp-admin/widgets.php"),
		chromedp.WaitVisible(chromedp.CSS(".edit-widgets-block-editor")),
		chromedp.Evaluate[chromedp.Void]("void wp.data.dispatch('core/preferences').set('core/edit-widgets', 'welcomeGuide', false)"),
		chromedp.WaitNotPresent(chromedp.CSS(".edit-widgets-welcome-guide")),
		chromedp.WaitVisible(chromedp.CSS(".wp-block-widget-area")),
		until("wp.data.select('core').getEntityRecords('root', 'sidebar')?.length > 0"),
		until("document.querySelectorAll('.wp-block-widget-area .wp-block').length > 1"),
	)
}

func (v *visit) uploadToLibrary(ctx context.Context) error {
	return chromedp.Do(ctx,
		v.goTo("/wp-admin/media-new.php?browser-uploader"),
		chromedp.WaitReady(chromedp.CSS("#async-upload")),
		chromedp.SetUploadFiles(chromedp.CSS("#async-upload"), []string{v.image}),
		chromedp.Click(chromedp.CSS("#html-upload")),
		chromedp.WaitVisible(chromedp.CSS(".attachments .attachment img, #the-list tr")),
	)
}

// changePermalinks saves another structure, and the old one again.
func (v *visit) changePermalinks(ctx context.Context) error {
	for _, structure := range []string{"/archives/%post_id%", v.gate.Site.Permalinks} {
		err := chromedp.Do(ctx,
			v.goTo("/wp-admin/options-permalink.php"),
			chromedp.WaitVisible(chromedp.CSS("#permalink_structure")),
			choosePermalinks(structure),
			chromedp.Click(chromedp.CSS("#submit")),
			chromedp.WaitVisible(chromedp.CSS("#setting-error-settings_updated, .notice-success")),
		)
		if err != nil {
			return err
		}
		saved, err := chromedp.Run(ctx, chromedp.Value(chromedp.CSS("#permalink_structure")))
		if err != nil {
			return err
		}
		if saved != structure {
			return fmt.Errorf("the structure is %q", saved)
		}
	}
	return nil
}

// choosePermalinks fills in the form. This release offers only index permalinks
// where it sees neither Apache nor nginx; a structure of one's own is kept as it
// is written.
func choosePermalinks(structure string) chromedp.Action[chromedp.Void] {
	if structure == "" {
		return chromedp.Click(chromedp.CSS("input[name=selection][value='']"))
	}
	return chromedp.Steps(
		chromedp.Click(chromedp.CSS("#custom_selection")),
		chromedp.SetValue(chromedp.CSS("#permalink_structure"), structure),
	)
}

func (v *visit) logOut(ctx context.Context) error {
	link, err := script[string](ctx, "document.querySelector('#wp-admin-bar-logout a').href")
	if err != nil {
		return err
	}
	return chromedp.Do(ctx, chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("#loginform")))
}

// restIsClosed asks as the page's own scripts would.
func (v *visit) restIsClosed(ctx context.Context) error {
	for _, path := range []string{"/wp-json/", "/wp-json/wp/v2/users", "/?rest_route=/wp/v2/posts"} {
		got, err := script[string](ctx, fmt.Sprintf("fetch(%q).then(async (a) => a.status + ' ' + (await a.json()).code)", v.gate.url(path)))
		if err != nil {
			return err
		}
		if got != "401 rest_not_logged_in" {
			return fmt.Errorf("%s: %s", path, got)
		}
	}
	return nil
}

func (v *visit) chooseConsent(ctx context.Context) error {
	return chromedp.Do(ctx,
		chromedp.Navigate(v.gate.url(fmt.Sprintf("/?page_id=%d", v.gate.Site.Page))),
		chromedp.WaitVisible(chromedp.CSS("#consent")),
		chromedp.Click(chromedp.CSS("#consent")),
		until("document.getElementById('consent-state').textContent === 'answer 200'"),
	)
}
