/**
 * A bot that answers the questions of agents: the first option of a choice, a fixed text otherwise. It leaves forms to
 * people.
 *
 * SVC_BASE_URL=http://localhost:7420 SVC_API_KEY=svc_… deno run -A examples/answer_bot.ts
 *
 * The key needs the scopes push:read and push:send and no role: the bot connects as a phone. It cannot read the
 * questions of a host that has a paired phone, because those are sealed for that phone.
 */
import process from "node:process";
import {
  askDataOf,
  createRelayApi,
  httpBaseFromWs,
  type Push,
  type PushRequestInput,
  RelayError,
  RelayLink,
  VERSION,
  wsFromHttpBase,
} from "../mod.ts";

const TEXT_ANSWER = "Use your own judgement, and say what you decided.";

const { SVC_BASE_URL = "http://localhost:7420", SVC_API_KEY: apiKey = "" } = process.env;
const wsUrl = wsFromHttpBase(SVC_BASE_URL);
const api = createRelayApi({ baseUrl: httpBaseFromWs(wsUrl), apiKey });

/** Returns the answer to a question, or undefined to leave it to someone else. */
function decide(push: Push): Pick<PushRequestInput, "body" | "data"> | undefined {
  const question = askDataOf(push);
  switch (question?.kind) {
    case "ask": {
      const [first] = question.options ?? [];
      return first === undefined ? { body: TEXT_ANSWER } : { data: { choices: [first] } };
    }
    case "prompt":
      return { body: TEXT_ANSWER };
    case "input":
    case undefined:
      return undefined;
  }
}

/** Answers one question. A failure is printed, and the bot continues with the others. */
async function answer(push: Push): Promise<void> {
  const decision = decide(push);
  if (decision === undefined) return;
  try {
    await api.sendPush({ type: "ask.answer", inReplyTo: push.id, ...decision });
    process.stdout.write(`answered: ${push.body}\n`);
  } catch (error) {
    // Someone else answered first, or the agent withdrew its question.
    if (error instanceof RelayError && error.code === "ask_closed") return;
    process.stderr.write(`Cannot answer "${push.body}": ${error}\n`);
  }
}

/** Answers the questions that were asked while the bot was not connected, the newest page first. */
async function answerOpen(): Promise<void> {
  for (let before: string | undefined = "end"; before !== undefined;) {
    const page = await api.listPushes({ before, open: "questions" });
    for (const { push } of page.pushes) await answer(push);
    before = page.next;
  }
}

const link = new RelayLink({
  wsUrl,
  apiKey,
  hello: () => ({
    role: "phone",
    deviceId: "dev_phone_answerbot",
    name: "answer bot",
    version: VERSION,
    capabilities: [],
  }),
  onFrame: (frame) => {
    if (frame.event === "push.new") void answer(frame.data);
  },
  onState: (state) => {
    process.stdout.write(`${state.state}\n`);
    if (state.state === "connected") {
      answerOpen().catch((error) => process.stderr.write(`Cannot read the open questions: ${error}\n`));
    }
  },
});

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => link.close());
link.start();
