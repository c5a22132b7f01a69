// An ERP that takes a subscription for an order.
import { given } from "./session.mjs";
import { get, post, put } from "./shop.mjs";

const [id] = given.subscriptions;
await put("update of an order", `orders/${given.orders[0]}`, { customer_note: "packed" });
await put("update of a subscription", `orders/${id}`, { status: "completed" });
await post("batch with a subscription", "orders/batch", { update: [{ id: given.orders[1], status: "completed" }, { id, status: "completed" }] });
await get("order afterwards", `orders/${given.orders[0]}`);
