// Has codex's app-server start `svc mcp` by its configuration, list its tools
// and call one: node codex.mjs CODEX. No model and no login is needed.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const codex = spawn(process.argv[2], ["app-server"], { stdio: ["pipe", "pipe", "ignore"] });
const waiting = new Map();
let last = 0;
createInterface({ input: codex.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
});
const request = (method, params) =>
  new Promise((resolve, reject) => {
    const id = ++last;
    waiting.set(id, (m) => (m.error ? reject(new Error(`${method}: ${JSON.stringify(m.error)}`)) : resolve(m.result)));
    codex.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    setTimeout(() => reject(new Error(`${method}: no answer`)), 30000).unref();
  });
try {
  await request("initialize", { clientInfo: { name: "e2e", version: "1" } });
  codex.stdin.write(JSON.stringify({ jsonrpc: "2.0", method: "initialized" }) + "\n");
  const status = await request("mcpServerStatus/list", {});
  const svc = status.data.find((s) => s.name === "svc");
  console.log("tools", Object.keys(svc.tools).length);
  const { thread } = await request("thread/start", {});
  const result = await request("mcpServer/tool/call", { threadId: thread.id, server: "svc", tool: "svc_whoami", arguments: {} });
  console.log("whoami", JSON.stringify(result));
  process.exitCode = result.isError ? 1 : 0;
} finally {
  codex.kill();
}
