// Measures how long `svc mcp` takes from its start to the answer of initialize,
// and what memory it has then: node start.mjs SVC. Fails far beyond its goals.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

const hello = JSON.stringify({
  jsonrpc: "2.0", id: 1, method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "e2e", version: "1" } },
}) + "\n";

const start = () =>
  new Promise((resolve) => {
    const began = performance.now();
    const svc = spawn(process.argv[2], ["mcp"], { stdio: ["pipe", "pipe", "ignore"] });
    svc.stdin.write(hello);
    svc.stdout.once("data", () => {
      const took = performance.now() - began;
      const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${svc.pid}/status`, "utf8"))[1]) / 1024;
      svc.once("exit", () => resolve({ took, rss }));
      svc.stdin.end();
    });
  });

const runs = [];
for (let i = 0; i < 40; i++) runs.push(await start());
runs.sort((a, b) => a.took - b.took);
const { took } = runs[20];
const rss = Math.max(...runs.map((r) => r.rss));
console.log(`start to initialize ${took.toFixed(1)} ms (goal 20), idle ${rss.toFixed(1)} MB (goal 40)`);
process.exit(took < 100 && rss < 40 ? 0 : 1);
