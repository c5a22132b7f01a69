// A day with wpapi, by cookie and nonce or by an application password.
import WPAPI from "wpapi";
import { given, step } from "./session.mjs";

const { username, password, nonce } = given;
const site = new WPAPI({ endpoint: given.rest, username, password, nonce, auth: true });
if (given.cookie) {
  site.setHeaders("Cookie", given.cookie);
}

await step("me", () => site.users().me().context("edit"));
await step("types", () => site.types());
const category = await step("create a category", () => site.categories().create({ name: "Füße & Schuhe" }));
await step("update a category", () => site.categories().id(category?.id).update({ description: "<b>“%”</b>" }));
const post = await step("create a post", () =>
  site.posts().create({ title: "Füße", content: "one + two % three", status: "draft", categories: [category?.id] }),
);
await step("update it", () => site.posts().id(post?.id).update({ status: "publish", excerpt: "“short”" }));
await step("create another", () => site.posts().create({ title: "Another", status: "publish" }));
let page = await step("list", () => site.posts().perPage(1).order("asc").orderby("id"));
for (let n = 2; page?._paging?.next; n++) {
  page = await step(`list, page ${n}`, () => page._paging.next);
}
await step("list by category", () => site.posts().categories(category?.id).embed());
await step("headers", () => site.posts().perPage(1).headers());
await step("revisions", () => site.posts().id(post?.id).revisions());
const media = await step("upload", () =>
  site.media().file(Buffer.from(given.image, "base64"), "dot.png").create({ title: "A dot", alt_text: "“dot”", post: post?.id }),
);
await step("describe it", () => site.media().id(media?.id).update({ caption: "a + b" }));
await step("settings", () => site.settings());
await step("change settings", () => site.settings().update({ description: "Changed" }));
await step("batch", () =>
  site.root("batch/v1").create({ requests: [{ path: "/wp/v2/tags", method: "POST", body: { name: "One" } }, { path: "/wp/v2/nothing" }] }),
);
site.orders = site.registerRoute("wc/v3", "/orders/(?P<id>\\d+)");
await step("orders", () => site.orders());
if (given.order) {
  await step("an order", () => site.orders().id(given.order));
  await step("update an order", () => site.orders().id(given.order).update({ customer_note: "packed" }));
}
await step("trash", () => site.posts().id(post?.id).delete());
await step("delete", () => site.posts().id(post?.id).delete({ force: true }));
await step("delete the upload", () => site.media().id(media?.id).delete({ force: true }));
await step("read what is gone", () => site.posts().id(post?.id));
await step("no such route", () => site.root("wp/v2/nothing").get());
