/** A home and messages of version 0.1.0 (tests/testdata/home/0.1.0, written by that version) keep working. */
import assert from "node:assert/strict";
import { exportPublicKey } from "../../../src/crypto/keys.ts";
import { importSecret } from "../../../src/crypto/paired_secret.ts";
import { sealMessage } from "../../../src/crypto/stored_message.ts";
import { openJournal } from "../../../src/home/journal.ts";
import { loadPaired } from "../../../src/home/pairing.ts";
import { hostKeys } from "../../../src/home/host_sealing.ts";
import type { Acknowledgement } from "../../../src/listener/acknowledger.ts";
import { PushIntake } from "../../../src/listener/pushes.ts";
import { SessionQueues } from "../../../src/listener/waiting_pushes.ts";
import { unseal } from "../../../src/listener/sealing.ts";
import type { Push } from "../../../src/protocol/push.ts";
import { CHECKOUT } from "../../helpers/sources.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";
import { PLAIN_STEPS } from "./push_bench.ts";

const NOW = 1_795_000_000_000;
const DEVICE = "dev_listener_01234567";
const FIXTURE = `${CHECKOUT}tests/testdata/home/0.1.0`;

async function oldHome(): Promise<TempHome> {
  const home = await makeTempHome();
  for (const name of ["identity", "paired.json", "journal.jsonl"]) {
    await Deno.copyFile(`${FIXTURE}/${name}`, `${home.paths.root}/${name}`);
  }
  return home;
}

async function start({ files, paths }: TempHome) {
  const none = (): Promise<never> => Promise.reject(new Error("no relay is asked"));
  const api = { createPairing: none, pairingStatus: none };
  const now = (): number => NOW;
  const keys = hostKeys({ files, paths, api, deviceId: DEVICE, hostname: "desk", now });
  const journal = await openJournal({ files, path: paths.journal, now });
  const acks: Acknowledgement[] = [];
  const typed: string[] = [];
  const queues = new SessionQueues();
  const intake = new PushIntake({
    journal,
    queues,
    ...PLAIN_STEPS,
    inject: async ({ id, body }) => {
      await journal.record(id, { step: "typing" });
      typed.push(body);
      return { state: "submitted" };
    },
    inTurn: { "agent.start": none },
    acknowledge: (ack) => void acks.push(ack),
    log: () => {},
    now,
    toLocalTime: (ms) => ms,
    unseal: (push) => unseal(push, { ...keys, now, log: () => {} }),
    floor: () => keys.floor({}),
  });
  const outcome = async (push: Push): Promise<string> => {
    acks.length = 0;
    await intake.receive(push);
    await queues.idle();
    const last = acks.at(-1);
    return `${last?.outcome} ${last?.reason ?? ""}`.trim();
  };
  return { keys, journal, outcome, typed };
}

const PUSHES: Push[] = JSON.parse(await Deno.readTextFile(`${FIXTURE}/pushes.json`));

async function countedPush(home: TempHome, counter: number): Promise<Push> {
  const { keys, journal } = await start(home);
  await journal.close();
  const [phone] = (await loadPaired(home.files, home.paths)).phones;
  const [identity, secret] = [await keys.identity(), await importSecret(phone?.secret ?? "")];
  assert.ok(phone && identity && secret);
  const [old] = PUSHES;
  assert.ok(old);
  const id = crypto.randomUUID();
  const boundTo = { id, type: "agent.command", from: phone.deviceId, targetDeviceId: DEVICE };
  const sealed = await sealMessage({ body: `numbered ${counter}`, notAfter: NOW + 3_600_000, counter }, {
    boundTo: { ...boundTo, agentSessionName: "svc-a", sendAnyway: false },
    publicKey: await exportPublicKey(identity.publicKey),
    secret,
  });
  return { ...old, id, sealed };
}

Deno.test("messages that an earlier version had accepted are typed, but not those it had ended or begun, and its phone still works [upgrade-home]", async () => {
  await using home = await oldHome();
  const host = await start(home);
  assert.equal(host.journal.damaged, 0);
  const outcomes = [];
  for (const push of PUSHES) outcomes.push(await host.outcome(push));
  assert.deepEqual(outcomes, ["refused muted", "submitted", "unknown interrupted", "submitted"]);
  assert.deepEqual(host.typed, ["accepted", "not delivered"]);
  await host.journal.close();
  const again = await start(home);
  for (const push of PUSHES) await again.outcome(push);
  assert.deepEqual(again.typed, [], "nothing is typed again");
  await again.journal.close();
});

Deno.test("once a page numbers its messages, those without a number are refused with a reason [upgrade-home, replay-window]", async () => {
  await using home = await oldHome();
  const numbered = await countedPush(home, 1);
  const host = await start(home);
  const [, accepted, , late] = PUSHES;
  assert.ok(accepted && late);
  assert.equal(await host.outcome(accepted), "submitted");
  assert.equal(await host.outcome(numbered), "submitted");
  assert.equal(await host.outcome(late), "refused counter_missing");
  await host.journal.close();
  const again = await start(home);
  assert.equal(await again.outcome({ ...late, id: crypto.randomUUID() }), "refused unsealable");
  assert.deepEqual(again.typed, []);
  await again.journal.close();
});

Deno.test("a home with paired phones gets the floor, and refuses plain messages [upgrade-home, seal-floor-auto]", async () => {
  await using home = await oldHome();
  const host = await start(home);
  const [old] = PUSHES;
  assert.ok(old);
  const plain: Push = { ...old, id: crypto.randomUUID(), sealed: undefined, body: "plain" };
  assert.equal(await host.outcome(plain), "refused sealed_required");
  assert.equal(await host.keys.floor({ requireEncryption: "off" }), "off");
  await host.journal.close();
});
