// What the recipe of docs/ci.md uses of testcontainers, with a process in place of the container of Cauri and nothing in place of
// that of Postgres: `cauri dev` starts its own.
import { spawn } from "node:child_process";

const { CAURI_TEST_PROGRAM, CAURI_TEST_PORT, PORT } = process.env;

export class Network {
  start = async () => this;
}

export const TestContainers = { exposeHostPorts: async () => {} };

export const Wait = { forHttp: (path) => path };

export class GenericContainer {
  constructor(image) {
    this.image = image;
  }
  withEnvironment = (env) => Object.assign(this, { env });
  withCommand = (command) => Object.assign(this, { command });
  withWaitStrategy = (path) => Object.assign(this, { path });
  withNetwork = () => this;
  withNetworkAliases = () => this;
  withExposedPorts = () => this;
  getHost = () => "127.0.0.1";
  getMappedPort = () => CAURI_TEST_PORT;

  async start() {
    if (!this.image.includes("/cauri:")) return this;
    const { CAURI_DATABASE_URL, ...env } = this.env;
    env.CAURI_WEBHOOK_URL = `http://127.0.0.1:${PORT}/webhooks`;
    const child = spawn(CAURI_TEST_PROGRAM, this.command, { env: { ...process.env, ...env, CAURI_PORT: CAURI_TEST_PORT }, stdio: ["ignore", "ignore", "inherit"] });
    process.on("exit", () => child.kill());
    for (let i = 0; i < 600; i++) {
      if (await fetch(`http://127.0.0.1:${CAURI_TEST_PORT}${this.path}`).then((answer) => answer.ok, () => false)) return this;
      await new Promise((done) => setTimeout(done, 100));
    }
    throw new Error(`${this.image} is not ready`);
  }
}
