// Runs the tests of the shop against the sandbox of the recipe.
import { spawnSync } from "node:child_process";
import { apiKey, startCauri, webhookSecret } from "./cauri.mjs";

const CAURI_URI = await startCauri();
const env = { ...process.env, CAURI_URI, CAURI_API_KEY: apiKey, CAURI_WEBHOOK_SECRET: webhookSecret };
process.exit(spawnSync("node", ["--test"], { cwd: process.env.CAURI_TEST_SHOP, env, stdio: "inherit" }).status);
