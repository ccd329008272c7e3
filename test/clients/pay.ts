// Pays with a client whose types openapi-typescript generates from the API's description.
import createClient from "openapi-fetch";
import type { paths } from "./generated/api.js";

const [uri, key, reference] = process.argv.slice(2) as [string, string, string];
const client = createClient<paths>({ baseUrl: uri, headers: { Authorization: `Bearer ${key}` } });

const created = await client.POST("/v1/payments", {
  body: { amount: 25000, currency: "RWF", msisdn: "+250788123456", reference, application: "shop", order_ref: null, scenario: "success" },
});
if (created.error || created.data.status !== "SUCCESS") throw new Error(`paying: ${JSON.stringify(created.error ?? created.data)}`);

const read = await client.GET("/v1/payments/{id}", { params: { path: { id: created.data.id } } });
if (read.error || read.data.netAmount !== created.data.netAmount) throw new Error(`reading: ${JSON.stringify(read.error ?? read.data)}`);

const refused = await client.POST("/v1/payments/{id}/refund", { params: { path: { id: created.data.id } }, body: { amount: 25001 } });
if (refused.error?.error !== "exceeds_refundable") throw new Error(`refunding: ${JSON.stringify(refused.error ?? refused.data)}`);

console.log("paid");
