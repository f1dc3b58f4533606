/** A relay that replays, reorders, withholds, forges and restores a backup, with real restarts of host and relay. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { HostileStage } from "../helpers/hostile_stage.ts";
import { rewriting, WAYS, type WireFrame } from "../helpers/hostile_relay.ts";
import { outcomeOf } from "../helpers/outcome_of.ts";
import { pairScriptedPhone } from "../helpers/scripted_phone.ts";
import { makeStack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

const EACH = 12;
const FORGERIES = 300;

/**
 * Returns every message that went to the host, newest first and without repetitions: the relay resends unacknowledged
 * ones.
 */
function recorded(stage: HostileStage): WireFrame[] {
  const frames = stage.relay.frames("push.new", WAYS.toHost).toReversed();
  return [...new Map(frames.map((frame) => [frame.data.id, frame])).values()];
}

Deno.test("across repetitions, reordering, forgeries and restarts of the host, each message of a paired phone is typed once [replay-window, sec-replay]", async () => {
  await using stage = await HostileStage.make("psk");
  using phone = await stage.phone();
  const { deviceId } = stage.stack;
  const names = [stage.session.name, stage.other.name];
  stage.attack(rewriting("push.new", WAYS.toHost, () => undefined));
  const texts = Array.from({ length: EACH }, () => stage.text());
  for (const text of texts) {
    for (const session of names) await phone.controller.send({ deviceId, session }, text);
  }
  await until("all at the relay", () => recorded(stage).length === 2 * EACH);
  stage.attack({});
  const held = recorded(stage);
  for (const frame of held) stage.relay.say(WAYS.toHost, frame);
  const ends = (): string[] =>
    [...phone.store.get().messages.values()].filter(({ body }) => texts.includes(body)).map(({ progress }) =>
      progress.kind === "taken" && progress.receipt.final ? outcomeOf(progress.receipt) : "open"
    );
  const notSubmitted = (): string[] => ends().filter((end) => end !== "submitted");
  await until("all to end", () => !ends().includes("open"));
  assert.deepEqual(notSubmitted(), []);
  for (let round = 0; round < 3; round++) {
    for (const frame of held) stage.relay.say(WAYS.toHost, frame);
    for (let n = 0; n < FORGERIES; n++) {
      const [frame] = held;
      const data = { ...frame?.data, id: crypto.randomUUID() };
      stage.relay.say(WAYS.toHost, { event: "push.new", data });
    }
    for (const frame of held.toReversed()) stage.relay.say(WAYS.toHost, frame);
    await stage.restartHost();
  }
  assert.deepEqual(notSubmitted(), []);
  // A reopened page continues its counters.
  using reopened = await stage.phone();
  const last = [stage.text(), stage.text()];
  for (const [place, page] of [phone, reopened].entries()) {
    await page.send(stage.session.name, last[place] ?? "");
  }
  assert.deepEqual((await stage.session.prompts(EACH + 2)).sort(), [...texts, ...last].sort());
  say(
    `${2 * EACH} messages, each sent ${1 + 2 * 3} times, ${
      3 * FORGERIES
    } forgeries, 3 restarts: each typed once`,
  );
});

Deno.test("an old backup of the relay retypes nothing, and types nothing that was closed [replay-window, sec-replay]", async () => {
  await using stack = await makeStack();
  const { name, prompts } = await stack.echo();
  const phone = await pairScriptedPhone(await stack.pairLink());
  assert.equal((await phone.send(name, "first")).receipt.state, "submitted");
  assert.equal((await stack.svc("mute")).code, 0);
  stack.listener.kill("SIGTERM");
  await stack.listener.exited;
  const ids: string[] = [];
  for (const text of ["one", "two"]) ids.push((await phone.api.sendPush(await phone.pushOf(name, text))).id);
  const { svcHome, root } = stack.sandbox;
  const restart = async (copy: () => Promise<void>): Promise<void> => {
    stack.relay.kill("SIGTERM");
    await stack.relay.exited;
    await copy();
    await stack.startRelay();
  };
  const data = `${svcHome}/server`;
  await restart(() => copyFolder(data, `${root}/backup`));
  await stack.startListener();
  const endOf = async (id: string): Promise<string> => {
    const { receipt } = await phone.api.getPush(id);
    return receipt.final ? outcomeOf(receipt) : "open";
  };
  const ended = async (): Promise<string[]> =>
    await until("an end", async () => {
      const ends = await Promise.all(ids.map(endOf)).catch(() => ["open"]);
      return !ends.includes("open") && ends;
    });
  assert.deepEqual(await ended(), ["refused muted", "refused muted"]);
  assert.equal((await stack.svc("unmute")).code, 0);
  await restart(async () => {
    await Deno.remove(data, { recursive: true });
    await copyFolder(`${root}/backup`, data);
  });
  assert.deepEqual(await ended(), ["refused muted", "refused muted"], "as the host had proven");
  assert.equal((await phone.send(name, "last")).receipt.state, "submitted");
  assert.deepEqual(await prompts(2), ["first", "last"]);
});

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true, mode: 0o700 });
  for await (const { name } of Deno.readDir(from)) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
}
