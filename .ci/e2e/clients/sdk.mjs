// Drives `svc mcp` by the TypeScript SDKs, which check every result against the
// schema that its tool publishes: node sdk.mjs MODULES SVC ROOT. MODULES is the
// folder of the packages.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, svc, root] = process.argv.slice(2);
const require = createRequire(modules + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { encode } = await load("gpt-tokenizer/encoding/o200k_base");
const v1 = await load("@modelcontextprotocol/sdk/client/index.js");
const v1stdio = await load("@modelcontextprotocol/sdk/client/stdio.js");
const v2 = await load("@modelcontextprotocol/client");
const v2stdio = await load("@modelcontextprotocol/client/stdio");

let failed = 0;
const check = (name, ok, why = "") => {
  console.log(ok ? `ok    ${name}` : `FAIL  ${name}: ${why}`);
  failed += ok ? 0 : 1;
};
const env = { ...process.env };
const person = { ask: (params) => ({ action: "decline", params }) };

// session connects one kind of client.
async function session(name, Client, Transport, options) {
  const client = new Client({ name: "e2e", version: "1" }, { capabilities: { elicitation: { form: {} } }, ...options });
  client.setRequestHandler(...elicitation(name));
  await client.connect(new Transport({ command: svc, args: ["mcp"], env, stderr: "ignore" }));
  return client;
}

let schema;
function elicitation(name) {
  const answer = async (request) => person.ask(request.params);
  return name.startsWith("v1") ? [schema, answer] : ["elicitation/create", answer];
}
schema = (await load("@modelcontextprotocol/sdk/types.js")).ElicitRequestSchema;

async function drive(name, client) {
  const { tools } = await client.listTools();
  check(`${name}: tools are listed`, tools.length >= 15, tools.length);
  const call = (tool, args = {}, options) => client.callTool({ name: tool, arguments: args }, ...(name.startsWith("v1") ? [undefined, options] : [options]));
  for (const tool of ["svc_whoami", "svc_get_status", "svc_whats_new", "svc_updates", "svc_export_collaboration", "svc_list_findings", "svc_list_questions"]) {
    const r = await call(tool);
    check(`${name}: ${tool} conforms to its schema`, !r.isError && JSON.stringify(JSON.parse(r.content[0].text)) === JSON.stringify(r.structuredContent), r.content[0].text);
  }
  let told = 0;
  const assessed = await call("svc_assess", { root }, { onprogress: () => told++ });
  check(`${name}: svc_assess conforms, with progress`, !assessed.isError && told > 0, assessed.content[0].text.slice(0, 200));
  const preflight = await call("svc_migrate", { root, target: "debian-13", preflight: true });
  check(`${name}: a preflight conforms`, !preflight.isError, preflight.content[0].text.slice(0, 200));
  person.ask = () => ({ action: "decline" });
  const finding = { kind: "bug", title: "t", body: "on web01" };
  const declined = await call("svc_report_finding", finding);
  check(`${name}: a person declines`, declined.isError && declined.content[0].text.includes("declined"), declined.content[0].text);
  person.ask = () => ({ action: "cancel" });
  const closed = await call("svc_report_finding", finding);
  check(`${name}: a closed form is not consent`, closed.isError && closed.content[0].text.includes("not confirmed"), closed.content[0].text);
  person.ask = () => ({ action: "accept", content: {} });
  const filed = await call("svc_report_finding", finding);
  check(`${name}: a person accepts`, !filed.isError && filed.structuredContent.body === "on [host]", filed.content[0].text);
  const { prompts } = await client.listPrompts();
  check(`${name}: prompts are listed`, prompts.length === 3, prompts.length);
  const guide = await client.readResource({ uri: "svc://guide" });
  check(`${name}: the guide is read`, guide.contents[0].text.includes("Licence seats"));
  const times = [];
  for (let i = 0; i < 500; i++) {
    const began = performance.now();
    await call("svc_ask_question", { question: "What does exit code 6 mean?", confirm: true });
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  console.log(`      ${name}: a call that does nothing takes ${times[250].toFixed(2)} ms, at the 99th percentile ${times[495].toFixed(2)} ms`);
  await client.close();
  return tools;
}

const tools = await drive("v1 legacy", await session("v1", v1.Client, v1stdio.StdioClientTransport, {}));
await drive("v2 legacy", await session("v2", v2.Client, v2stdio.StdioClientTransport, { versionNegotiation: { mode: "legacy" } }));
await drive("v2 modern", await session("v2", v2.Client, v2stdio.StdioClientTransport, { versionNegotiation: { mode: { pin: "2026-07-28" } } }));

const visible = tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
const tokens = encode(JSON.stringify(visible)).length;
check(`models see ${tools.length} tools in ${tokens} tokens, at most 3200`, tokens <= 3200);
process.exit(failed ? 1 : 0);
