// A receiver as it is often written first: it looks at no signature, credits each event, and knows some statuses.
import express from "express";

const balances = new Map();
const app = express();
app.use(express.json());

app.post("/webhooks", (req, res) => {
  const { status, order_ref: order, amount } = req.body;
  switch (status) {
    case "SUCCESS":
      balances.set(order, (balances.get(order) ?? 0) + Number(amount));
      break;
    case "INSUFFICIENT_FUNDS":
      break;
    default:
      throw new Error(`unknown status ${status}`);
  }
  res.sendStatus(200);
});

app.listen(process.env.PORT, "127.0.0.1");
