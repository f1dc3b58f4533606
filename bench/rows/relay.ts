/** How much the relay's own work slows others: the removal of old pushes, and the heartbeats of idle hosts. */
import { PUSH_RETENTION_DAYS } from "../../src/protocol/limits.ts";
import { openDatabase } from "../../src/runtime/sqlite.ts";
import { Peer } from "../../tests/contract/relay_peer.ts";
import { until } from "../../tests/helpers/until.ts";
import { sessionNamed } from "../../tests/unit/relay/fixture.ts";
import { denoCommand } from "../bare.ts";
import { type Row, type Sample, timed } from "../measure.ts";
import { LISTENER, makeRelayStage, type RelayStage } from "../relay_stage.ts";

const OLD_ROWS = 200_000;
const DAY_MS = 86_400_000;
/** How long requests are timed in a sample: part of a sweep. */
const SAMPLE_MS = 3_000;

const SWEEPING = denoCommand("../sweeping_relay.ts", import.meta.url);

/** Stores pushes that are due for removal, with their receipts. */
async function fill(dataDir: string): Promise<void> {
  const database = await openDatabase(`${dataDir}/relay.db`, { busyMs: 1_000 });
  const old = Date.now() - (PUSH_RETENTION_DAYS + 1) * DAY_MS;
  const receipt = JSON.stringify({ state: "submitted", final: true, at: { queued: old, submitted: old } });
  const insert = database.prepare(
    `INSERT INTO pushes (account, id, target, digest, push, receipt, state, final, created_at, expires_at)
     VALUES ('default', ?, ?, x'00', ?, ?, 'submitted', 1, ?, ?)`,
  );
  database.exec("BEGIN");
  for (let row = 0; row < OLD_ROWS; row++) {
    const id = crypto.randomUUID();
    const push = {
      id,
      type: "agent.command",
      from: "dev_phone_1",
      body: "a message of the bench ".repeat(8),
    };
    insert.run(id, LISTENER, JSON.stringify({ ...push, createdAt: old, expiresAt: old }), receipt, old, old);
  }
  database.exec("COMMIT");
  database.close();
}

/** Returns the slowest of the requests sent one after the other within `SAMPLE_MS`. */
function slowest({ senders, listener }: RelayStage): Sample {
  return async () => {
    const end = performance.now() + SAMPLE_MS;
    let most = 0;
    for (let sent = 0; performance.now() < end; sent++) {
      const send = () =>
        senders[sent % senders.length]?.sendPush({
          type: "agent.command",
          targetDeviceId: LISTENER,
          agentSessionName: "svc-a",
          body: "hello",
        });
      most = Math.max(most, await timed(async () => await send()));
      for (const { data } of listener.received("push.new")) {
        listener.send("push.ack", { id: data.id, outcome: "submitted", final: true });
      }
      listener.frames.length = 0;
    }
    return most;
  };
}

export const sweepRow: Row = {
  name: `relay: the slowest request in 3 s while ${OLD_ROWS} old pushes are removed`,
  beside: "the same without",
  aim: "no request slower than 50 ms by it",
  samples: 3,
  async open() {
    const options = { senders: 30, program: SWEEPING };
    const sweeping = await makeRelayStage({ ...options, prepare: fill });
    const calm = await makeRelayStage(options);
    const ours = slowest(sweeping);
    let isBegun = false;
    return {
      ours: () => {
        if (!isBegun) Deno.kill(sweeping.relay.pid, "SIGUSR1");
        isBegun = true;
        return ours();
      },
      theirs: slowest(calm),
      async close() {
        await sweeping[Symbol.asyncDispose]();
        await calm[Symbol.asyncDispose]();
      },
    };
  },
};

const SESSIONS = 20;

/** Returns the bytes that a phone receives for a report, counted once a later frame has arrived. */
function reported(stage: RelayStage, phone: Peer, title: () => string): Sample {
  return async () => {
    const { listener } = stage;
    const shown = title();
    const sessions = Array.from({ length: SESSIONS }, (_, number) => sessionNamed(`svc-project-${number}`))
      .map((entry) => ({ ...entry, title: shown }));
    const stored = listener.received("listener.stored").length;
    phone.frames.length = 0;
    listener.send("listener.sessions", { sequence: 1, sessions });
    await until("the stored report", () => listener.received("listener.stored").length > stored);
    await stage.senders[0]?.sendPush({ type: "note", body: "a note" });
    await until("the note", () => phone.received("push.new").length > 0);
    const frames = phone.frames.filter(({ event }) => event === "sessions.changed");
    return frames.reduce((bytes, frame) => bytes + JSON.stringify(frame).length, 0);
  };
}

const heartbeatRow: Row = {
  name: `relay: bytes to a phone for an unchanged report of ${SESSIONS} sessions`,
  beside: "a changed one",
  aim: "0",
  unit: "bytes",
  samples: 5,
  async open() {
    const stage = await makeRelayStage({ senders: 1 });
    const phone = await Peer.greeted(stage.wsUrl, { key: stage.key, hello: { deviceId: "dev_phone_1" } });
    let changes = 0;
    let last = "a title";
    const changed = reported(stage, phone, () => last = `a title ${++changes}`);
    await changed();
    return {
      ours: async () => {
        const text = last;
        return await reported(stage, phone, () => text)();
      },
      theirs: changed,
      async close() {
        await phone.leave();
        await stage[Symbol.asyncDispose]();
      },
    };
  },
};

export const relayRows: Row[] = [sweepRow, heartbeatRow];
