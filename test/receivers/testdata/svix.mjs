// The example of Svix for Express, https://docs.svix.com/receiving/verifying-payloads/how, with the parser that Express itself has.
import express from "express";
import { Webhook } from "svix";

const secret = process.env.CAURI_WEBHOOK_SECRET;
const app = express();

app.post("/webhooks", express.raw({ type: "application/json" }), (req, res) => {
  const payload = req.body;
  const headers = req.headers;

  const wh = new Webhook(secret);
  let msg;
  try {
    msg = wh.verify(payload, headers);
  } catch (err) {
    return res.status(400).json({});
  }

  // Do something with the message...

  res.json({});
});

app.listen(process.env.PORT, "127.0.0.1");
