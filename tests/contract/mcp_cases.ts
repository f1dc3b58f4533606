/** The MCP server as an agent uses it, through the protocol's own client, on each runtime. */
import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/client";
import { RelayError } from "../../src/client/relay_error.ts";
import { RelayLink } from "../../src/client/relay_link.ts";
import type { Push } from "../../src/protocol/push.ts";
import type { FakeClock } from "../helpers/fake_clock.ts";
import { connectMcp, PhoneSide, runOut, textOf } from "../helpers/mcp_bench.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import { listenerDeviceId } from "../../src/protocol/names.ts";
import { entryOf } from "../phone/scripted_listener.ts";

interface Bench {
  phone: PhoneSide;
  client: Client;
  clock: FakeClock;
  call(
    name: string,
    args: Record<string, unknown>,
    options?: Parameters<Client["callTool"]>[1],
  ): Promise<string>;
}
type Body = (bench: Bench) => Promise<void>;
interface Setting {
  session?: string;
  scopes?: ("push:read" | "push:send")[];
}

/** Makes a case after which the client disconnects and then the relay stops. */
function caseOf(name: string, body: Body, { session = "svc-proj", scopes }: Setting = {}): Case {
  return {
    name,
    async run(_runtime, directory) {
      const phone = await PhoneSide.start(directory);
      const apiKey = scopes === undefined ? phone.settings.apiKey : await phone.key(...scopes);
      const settings = (): Promise<typeof phone.settings> => Promise.resolve({ ...phone.settings, apiKey });
      const { client, clock, served } = await connectMcp({ settings, session });
      const call: Bench["call"] = async (name, args, options) =>
        textOf(await client.callTool({ name, arguments: args }, options));
      try {
        await body({ phone, client, clock, call });
      } finally {
        await client.close();
        await served;
        await phone.relay.stop();
      }
    },
  };
}

/** Runs `act` with a listener that has the session, so that late answers can be delivered. */
async function withListener({ phone }: Bench, act: (typed: Push[]) => Promise<void>): Promise<void> {
  const typed: Push[] = [];
  const deviceId = await listenerDeviceId("workstation");
  const link: RelayLink = new RelayLink({
    ...phone.settings,
    hello: () => ({ role: "listener", deviceId, name: "workstation", version: "1.0.0", capabilities: [] }),
    onFrame: (frame) => {
      if (frame.event === "push.new") typed.push(frame.data);
    },
    onState: ({ state }) => {
      if (state !== "connected") return;
      link.send("listener.sessions", { sequence: 1, sessions: [entryOf({ name: "svc-proj" })] });
    },
  });
  link.start();
  try {
    await until("the session", async () => (await phone.api.sessions()).devices[0]?.sessions[0]);
    await act(typed);
  } finally {
    link.close();
  }
}

const ends = (phone: PhoneSide, { id }: Push, state: string): Promise<unknown> =>
  until(`the question ${state}`, async () => (await phone.api.getPush(id)).receipt.state === state);

const TOOLS: readonly Case[] = [
  caseOf(
    "it lists four tools with plain schemas, and rejects others [cli-mcp, other-mcp]",
    async ({ client }) => {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map(({ name }) => name), ["svc_ask", "svc_prompt", "svc_input", "svc_notify"]);
      assert.doesNotMatch(JSON.stringify(tools), /\$schema|"pattern"/);
      assert.deepEqual(tools.map(({ inputSchema }) => inputSchema.required), [
        ["question"],
        ["question"],
        ["question", "fields"],
        ["title"],
      ]);
      await assert.rejects(client.callTool({ name: "svc_other" }), /not found/);
    },
  ),
  caseOf(
    "svc_ask gives the chosen options, or the user's own text [mcp-ask, type-ask, type-answer, flow-3]",
    async (bench) => {
      const { phone, call } = bench;
      const one = call("svc_ask", { question: "Deploy?", options: ["Yes", "No"] });
      const deploy = await phone.asked("Deploy?");
      assert.deepEqual(deploy.data, {
        kind: "ask",
        options: ["Yes", "No"],
        timeoutSeconds: 300,
        replyTo: deploy.data?.["replyTo"],
        listener: await listenerDeviceId("workstation"),
      });
      assert.equal(deploy.agentSessionName, "svc-proj");
      const answer = await phone.answer(deploy, { data: { choices: ["Yes"] } });
      assert.equal(await one, "Yes");
      assert.equal((await phone.api.getPush(answer)).receipt.state, "delivered");

      const several = call("svc_ask", { question: "Which?", options: ["a", "b", "c"], multiple: true });
      await phone.answer(await phone.asked("Which?"), { data: { choices: ["c", "a"] } });
      assert.equal(await several, "c, a");
      const free = call("svc_ask", { question: "Why?", options: ["x"] });
      await phone.answer(await phone.asked("Why?"), { body: "because\nof this" });
      assert.equal(await free, "because\nof this");
      assert.deepEqual(await phone.pushes("agent.command"), []);
    },
  ),
  caseOf("svc_prompt gives text, svc_input gives values [mcp-prompt, mcp-input]", async ({ phone, call }) => {
    const prompt = call("svc_prompt", { question: "Name?" });
    await phone.answer(await phone.asked("Name?"), { body: "Ada" });
    assert.equal(await prompt, "Ada");
    const fields = [
      { name: "port", type: "number", label: "Port" },
      { name: "tls", type: "boolean" },
      { name: "zone", type: "choice", options: ["a", "b"], optional: true },
    ];
    const form = call("svc_input", { question: "Server?", fields });
    const asked = await phone.asked("Server?");
    assert.deepEqual(asked.data?.["fields"], fields);
    await phone.answer(asked, { data: { values: { port: 8080, tls: true } } });
    assert.equal(await form, "port: 8080\ntls: true");
  }),
  caseOf(
    "a secret field is refused with an explanation if no phone is paired, and nothing is sent [mcp-input]",
    async ({ phone, client }) => {
      const fields = [{ name: "user", type: "text" }, { name: "password", type: "text", secret: true }];
      const result = await client.callTool({ name: "svc_input", arguments: { question: "Login?", fields } });
      assert.equal(result.isError, true);
      assert.match(textOf(result), /Cannot ask for a secret: no phone is paired.*at the computer/s);
      assert.deepEqual(await phone.pushes("ask"), []);
    },
  ),
  caseOf("svc_notify sends a note and waits for nobody [mcp-notify]", async ({ phone, call }) => {
    const said = await call("svc_notify", { title: "Done", body: "All green.", level: "warning" });
    assert.match(said, /on its way/);
    const [note] = await phone.pushes("note");
    assert.deepEqual([note?.push.title, note?.push.body, note?.push.data], ["Done", "All green.", {
      level: "warning",
    }]);
    assert.equal(note?.push.agentSessionName, "svc-proj");
  }),
  caseOf(
    "invalid arguments are reported to the model with their path [lim-ask, other-mcp]",
    async ({ client, phone }) => {
      const wrong: [string, Record<string, unknown>, RegExp][] = [
        ["svc_ask", { question: "?", timeoutSeconds: 119 }, /timeoutSeconds/],
        ["svc_ask", { question: "?", timeoutSeconds: 601 }, /timeoutSeconds/],
        ["svc_prompt", { question: "?", timeoutSeconds: 601 }, /timeoutSeconds/],
        ["svc_ask", { options: ["a"] }, /question/],
        ["svc_ask", { question: "?", options: ["a\nb"] }, /options\/0/],
        [
          "svc_input",
          { question: "?", fields: [{ name: "a", type: "choice" }] },
          /options: required for choice/,
        ],
        ["svc_input", { question: "?", fields: [{ name: "a", type: "date" }] }, /fields\/0\/type/],
        ["svc_notify", { title: "" }, /title/],
      ];
      for (const [name, args, fault] of wrong) {
        const result = await client.callTool({ name, arguments: args });
        assert.deepEqual([result.isError, fault.test(textOf(result))], [true, true], textOf(result));
      }
      assert.deepEqual([await phone.pushes("ask"), await phone.pushes("note")], [[], []]);
    },
  ),
];

const WAITS: readonly Case[] = [
  caseOf(
    "a client that requests progress gets the waiting time every 20 s [mcp-progress, other-mcp]",
    async ({ phone, clock, call }) => {
      const heard: { progress: number; total?: number | undefined }[] = [];
      const onprogress = ({ progress, total }: typeof heard[number]): void =>
        void heard.push({ progress, total });
      const waiting = call("svc_prompt", { question: "Slow?", timeoutSeconds: 120 }, { onprogress });
      const asked = await phone.asked("Slow?");
      for (let n = 0; n < 4; n++) clock.advance(15_000);
      await until("three notifications", () => heard.length === 3);
      assert.deepEqual(heard, [20, 40, 60].map((progress) => ({ progress, total: 120 })));
      await phone.answer(asked, { body: "yes" });
      assert.equal(await waiting, "yes");
      clock.advance(60_000);
      assert.equal(heard.length, 3);
    },
  ),
  caseOf(
    "a cancelled call withdraws its question, and no other [other-mcp]",
    async ({ phone, call }) => {
      const cancel = new AbortController();
      const kept = call("svc_prompt", { question: "Kept?" });
      const taken = call("svc_prompt", { question: "Taken back?" }, { signal: cancel.signal });
      const asked = await phone.asked("Taken back?");
      cancel.abort();
      await assert.rejects(taken);
      await ends(phone, asked, "withdrawn");
      await assert.rejects(
        phone.answer(asked, { body: "too late" }),
        (error) => error instanceof RelayError && error.code === "ask_closed",
      );
      await phone.answer(await phone.asked("Kept?"), { body: "yes" });
      assert.equal(await kept, "yes");
    },
  ),
  caseOf(
    "when the time is over the result says what comes next, and a late answer is typed once [mcp-timeout, mcp-late]",
    (bench) =>
      withListener(bench, async (typed) => {
        const { phone, clock, call } = bench;
        const waiting = call("svc_ask", { question: "Now?", options: ["Yes", "No"], timeoutSeconds: 120 });
        const asked = await phone.asked("Now?");
        assert.match(
          await runOut(clock, waiting),
          /No answer came within 120 s.*svc-proj.*stays reachable.*will be typed in here/s,
        );
        const answer = await phone.answer(asked, { data: { choices: ["Yes"] } });
        await until("the message", () => typed.length > 0);
        await until("the end", async () => (await phone.api.getPush(answer)).receipt.final);
        const [command] = typed;
        assert.deepEqual([command?.body, command?.agentSessionName, command?.inReplyTo], [
          "Yes",
          "svc-proj",
          asked.id,
        ]);
        assert.equal(typed.length, 1);
      }),
  ),
  caseOf(
    "without a session the question is withdrawn when the time is over, with the reason [mcp-timeout]",
    async ({ phone, clock, call }) => {
      const waiting = call("svc_prompt", { question: "Anyone?", timeoutSeconds: 120 });
      const asked = await phone.asked("Anyone?");
      assert.equal(asked.agentSessionName, undefined);
      assert.match(
        await runOut(clock, waiting),
        /does not run in a session that svc started.*cannot be typed in/s,
      );
      await ends(phone, asked, "withdrawn");
    },
    { session: "" },
  ),
  caseOf(
    "a relay that stops and restarts while a call waits loses nothing [mcp-survives]",
    async ({ phone, call }) => {
      const waiting = call("svc_prompt", { question: "Still there?" });
      const asked = await phone.asked("Still there?");
      await phone.relay.stop();
      await phone.startRelay();
      await phone.answer(asked, { body: "yes" });
      assert.equal(await waiting, "yes");
      assert.deepEqual(await phone.pushes("agent.command"), []);
    },
  ),
  caseOf("a client that leaves takes its questions back", async ({ phone, client, call }) => {
    const waiting = call("svc_prompt", { question: "Gone?" });
    const asked = await phone.asked("Gone?");
    await client.close();
    await assert.rejects(waiting);
    await ends(phone, asked, "withdrawn");
  }),
  caseOf("a key that may not send is reported to the model with what to do", async ({ client }) => {
    const result = await client.callTool({ name: "svc_prompt", arguments: { question: "Allowed?" } });
    assert.equal(result.isError, true);
    assert.match(textOf(result), /lacks the scope push:send/);
  }, { scopes: ["push:read"] }),
];

const SETUP: readonly Case[] = [{
  name: "without a setup a call says how to do it, and works once it is done",
  async run(_runtime, directory) {
    const phone = await PhoneSide.start(directory);
    let isSetUp = false;
    const settings = (): Promise<typeof phone.settings> =>
      isSetUp ? Promise.resolve(phone.settings) : Promise.reject(new Error("not set up: run svc up"));
    const { client, served } = await connectMcp({ settings });
    const note = { name: "svc_notify", arguments: { title: "Hello" } };
    const refused = await client.callTool(note);
    assert.deepEqual([refused.isError, textOf(refused)], [true, "not set up: run svc up"]);
    isSetUp = true;
    assert.notEqual((await client.callTool(note)).isError, true);
    await client.close();
    await served;
    await phone.relay.stop();
  },
}, {
  name:
    "a key that changes while the agent runs is used by its next call, and an open question keeps its own",
  async run(_runtime, directory) {
    const phone = await PhoneSide.start(directory);
    const [first, second] = [phone.settings.apiKey, await phone.key("push:read", "push:send")];
    let apiKey: string | undefined = first;
    const settings = (): Promise<typeof phone.settings> =>
      apiKey === undefined
        ? Promise.reject(new Error("cannot be read"))
        : Promise.resolve({ ...phone.settings, apiKey });
    const { client, served } = await connectMcp({ settings, session: "" });
    const early = client.callTool({ name: "svc_prompt", arguments: { question: "Early?" } });
    const asked = await phone.asked("Early?");
    const note = async (key: string | undefined): Promise<string> => {
      apiKey = key;
      return textOf(await client.callTool({ name: "svc_notify", arguments: { title: "Hello" } }));
    };
    assert.match(await note("svc_wrong"), /Cannot send the push/);
    assert.match(await note(undefined), /Cannot send the push/, "the settings that could be read last");
    assert.match(await note(second), /on its way/);
    assert.match(await note(undefined), /on its way/);
    await phone.answer(asked, { body: "yes" });
    assert.equal(textOf(await early), "yes");
    await client.close();
    await served;
    await phone.relay.stop();
  },
}];

export const cases: readonly Case[] = [...TOOLS, ...WAITS, ...SETUP];
