// A day of an ERP.
import { given } from "./session.mjs";
import { del, get, options, post, put } from "./shop.mjs";

const first = await get("list", "orders", { per_page: 2 });
for (let page = 2; page <= Number(first?.pages); page++) {
  await get(`list, page ${page}`, "orders", { per_page: 2, page });
}
await get("list by status", "orders", { status: ["processing", "completed"], orderby: "id", order: "asc" });
await get("products", "products", { search: "Mug" });
await get("read", `orders/${given.orders[0]}`);
const made = await post("create", "orders", {
  customer_note: "Füße & 50 % — “+”",
  billing: { email: "erp@example.test", country: "DE" },
  line_items: [{ product_id: given.products[0], quantity: 2 }],
});
const id = made?.data.id;
await put("update", `orders/${id}`, { status: "processing", meta_data: [{ key: "erp", value: { number: "1/2", paid: true } }] });
await put("update what was there", `orders/${given.orders[0]}`, { status: "completed" });
const batch = await post("batch", "orders/batch", {
  create: [{ line_items: [{ product_id: given.products[0], quantity: 1 }] }],
  update: [{ id, customer_note: "packed" }, { id: given.orders[1], customer_note: "packed" }],
});
await post("refund", `orders/${id}/refunds`, { amount: "5.00", reason: "Broken", api_refund: false });
await get("refunds", `orders/${id}/refunds`);
await post("delete in a batch", "orders/batch", { delete: [batch?.data.create[0].id] });
await del("trash", `orders/${id}`);
await del("delete", `orders/${id}`, { force: true });
await get("read what is gone", `orders/${id}`);
await options("options", "orders");
await get("subscription", `subscriptions/${given.subscriptions[0]}`);
