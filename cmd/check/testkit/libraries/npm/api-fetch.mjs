// An editor's day with @wordpress/api-fetch, by cookie and nonce or by an application password.
import apiFetch from "@wordpress/api-fetch";
import { given, step } from "./session.mjs";

// What a browser does beside the library: it adds the cookies of the login.
const own = given.cookie ? { Cookie: given.cookie } : { Authorization: given.authorization };
const send = globalThis.fetch;
globalThis.fetch = (url, options = {}) => send(url, { ...options, headers: { ...options.headers, ...own } });

apiFetch.use(apiFetch.createRootURLMiddleware(given.rest));
apiFetch.use(apiFetch.mediaUploadMiddleware);
if (given.nonce) {
  apiFetch.nonceEndpoint = `${given.url}/wp-admin/admin-ajax.php?action=rest-nonce`;
  apiFetch.nonceMiddleware = apiFetch.createNonceMiddleware(given.nonce);
  apiFetch.use(apiFetch.nonceMiddleware);
}

const call = (name, options) => step(name, () => apiFetch(options));
const data = (name, method, path, body) => call(name, { method, path, data: body });
const raw = (name, options) =>
  step(name, async () => {
    const answer = await apiFetch({ ...options, parse: false });
    return { status: answer.status, headers: [...answer.headers.keys()], body: await answer.text() };
  });

await call("index", { path: "/" });
const me = await call("me", { path: "/wp/v2/users/me?context=edit" });
await call("type", { path: "/wp/v2/types/post?context=edit" });
await raw("options", { path: "/wp/v2/posts", method: "OPTIONS" });
await call("namespace and endpoint", { namespace: "wp/v2", endpoint: "taxonomies" });

const category = await data("create a category", "POST", "/wp/v2/categories", { name: "Füße & Schuhe" });
await data("update a category", "PUT", `/wp/v2/categories/${category?.id}`, { description: "<b>“%”</b>" });
const post = await data("create a post", "POST", "/wp/v2/posts", { title: "Draft" });
await data("save it", "PUT", `/wp/v2/posts/${post?.id}`, {
  title: "Füße",
  content: "<!-- wp:paragraph -->\n<p>one + two % three</p>\n<!-- /wp:paragraph -->",
  status: "draft",
  categories: [category?.id],
});
await data("autosave", "POST", `/wp/v2/posts/${post?.id}/autosaves`, { title: "Füße", content: "<p>more</p>", status: "draft" });
await data("publish", "PATCH", `/wp/v2/posts/${post?.id}`, { status: "publish" });
await data("autosave what is published", "POST", `/wp/v2/posts/${post?.id}/autosaves`, { content: "<p>later</p>" });
await call("revisions", { path: `/wp/v2/posts/${post?.id}/revisions?context=edit` });

const upload = new FormData();
upload.append("file", new Blob([Buffer.from(given.image, "base64")], { type: "image/png" }), "dot ü.png");
upload.append("title", "A dot");
upload.append("post", String(post?.id));
const media = await call("upload", { path: "/wp/v2/media", method: "POST", body: upload });
await data("describe it", "PATCH", `/wp/v2/media/${media?.id}`, { alt_text: "“dot”" });
await data("feature it", "PUT", `/wp/v2/posts/${post?.id}`, { featured_media: media?.id });

await data("batch", "POST", "/batch/v1", {
  validation: "require-all-validate",
  requests: ["One", "Two", "Three"].map((name) => ({ path: "/wp/v2/tags", method: "POST", body: { name } })),
});
await call("all tags, on two pages", { path: "/wp/v2/tags?per_page=-1&_fields=id,name" });
await raw("posts as they come", { path: "/wp/v2/posts?per_page=1&context=edit&_embed=1" });
await call("search", { path: "/wp/v2/search?search=F%C3%BC%C3%9Fe&type=post" });
await call("by its address", { url: `${given.rest}wp/v2/posts/${post?.id}?context=edit&_fields=id,content`.replace(/(rest_route=[^?]*)\?/, "$1&") });
await call("settings", { path: "/wp/v2/settings" });
await data("change settings", "PUT", "/wp/v2/settings", { description: "Changed" });
await data("trash", "DELETE", `/wp/v2/posts/${post?.id}`);
await call("delete", { path: `/wp/v2/posts/${post?.id}?force=true`, method: "DELETE" });
await call("delete the upload", { path: `/wp/v2/media/${media?.id}?force=true`, method: "DELETE" });
await call("read what is gone", { path: `/wp/v2/posts/${post?.id}` });
await call("no such route", { path: "/wp/v2/nothing", method: "POST", data: { id: me?.id } });
if (given.nonce) {
  apiFetch.nonceMiddleware.nonce = "0123456789"; // it is too old: the library fetches another
  await call("an old nonce", { path: "/wp/v2/users/me" });
}
