/** Checks every schema of the wire against valid and invalid samples under tests/testdata/wire. */
import assert from "node:assert/strict";
import type * as z from "zod/mini";
import { fieldFaults, Problem } from "../../src/protocol/errors.ts";
import { encodeFrame, EVENTS, type Frame, parseFrame } from "../../src/protocol/frames.ts";
import * as http from "../../src/protocol/http.ts";
import { PushAccepted, PushPage, PushRecord, PushRequest } from "../../src/protocol/push.ts";
import { SessionsAnswer } from "../../src/protocol/session.ts";
import * as webPush from "../../src/protocol/web_push.ts";
import { ROUTES } from "../../src/relay/routes.ts";
import { readSources } from "../helpers/sources.ts";

const FOLDER = "tests/testdata/wire";

/** Schemas of request and answer bodies, by the name of their samples' folder. */
const MESSAGES: Record<string, z.ZodMiniType> = {
  push_request: PushRequest,
  push_accepted: PushAccepted,
  push_record: PushRecord,
  push_page: PushPage,
  sessions_answer: SessionsAnswer,
  device_revoked: http.DeviceRevoked,
  devices_answer: http.DevicesAnswer,
  hook: http.Hook,
  hooks_answer: http.HooksAnswer,
  hook_change: http.HookChange,
  pairing_request: http.PairingRequest,
  pairing_created: http.PairingCreated,
  pairing_status: http.PairingStatus,
  pairing_claim: http.PairingClaim,
  pairing_claimed: http.PairingClaimed,
  web_push_subscription: webPush.WebPushSubscription,
  web_push_key: webPush.WebPushKey,
  web_push_test: webPush.WebPushTest,
  web_push_tested: webPush.WebPushTested,
  web_push_payload: webPush.WebPushPayload,
  shown_report: webPush.ShownReport,
  health: http.Health,
  problem: Problem,
};
interface Sample {
  folder: string;
  /** `valid`, `normalized` or `invalid`. */
  kind: string;
  path: string;
  text: string;
}

interface InvalidFrame {
  message?: unknown;
  text?: string;
  fault: string;
  detail: string;
}

async function readSamples(): Promise<Sample[]> {
  const files = await readSources(FOLDER, (path) => path.endsWith(".json"));
  return files.map(({ path, text }) => {
    const [folder = "", name = ""] = path.slice(FOLDER.length + 1).split("/");
    return { folder, kind: name.split("_")[0] ?? "", path, text };
  });
}

function isEvent(folder: string): boolean {
  return folder in EVENTS || folder === "envelope";
}

function parsedFrame(text: string): Frame {
  const frame = parseFrame(text);
  assert.ok(!("fault" in frame), "fault" in frame ? frame.detail : "");
  return frame;
}

function encoded({ event, data, id, re }: Frame): unknown {
  return JSON.parse(encodeFrame(event, data, { ...(id && { id }), ...(re && { re }) }));
}

function schemaOf(folder: string): z.ZodMiniType {
  const schema = MESSAGES[folder];
  assert.ok(schema, `"${folder}" names no message`);
  return schema;
}

const samples = await readSamples();
const frames = samples.filter(({ folder }) => isEvent(folder));
const bodies = samples.filter(({ folder }) => !isEvent(folder));

Deno.test("every event and every HTTP message has a good and a bad sample [proto-one-schema]", () => {
  const needed = [...Object.keys(EVENTS), ...Object.keys(MESSAGES)];
  const lacks = (kind: string): string[] =>
    needed.filter((name) => !samples.some((sample) => sample.folder === name && sample.kind === kind));
  assert.deepEqual(lacks("valid"), []);
  assert.deepEqual(lacks("invalid"), []);
});

Deno.test("every body that a route accepts or answers with has samples", () => {
  const sampled: unknown[] = Object.values(MESSAGES);
  const bodies = ROUTES.flatMap((
    { path, body, answer, otherwise },
  ) => [body, answer.schema, otherwise?.schema].map((schema) => ({ path, schema })));
  const missing = bodies.filter(({ schema }) => schema !== undefined && !sampled.includes(schema));
  assert.deepEqual(missing.map(({ path }) => path), []);
});

Deno.test("good frames are accepted and encode to the same JSON [ws-control, ev-pane-schema, ev-hello]", async (t) => {
  for (const { path, text } of frames.filter(({ kind }) => kind === "valid")) {
    await t.step(path, () => assert.deepEqual(encoded(parsedFrame(text)), JSON.parse(text)));
  }
});

Deno.test("bad frames give the expected fault", async (t) => {
  for (const { path, text } of frames.filter(({ kind }) => kind === "invalid")) {
    const sample = JSON.parse(text) as InvalidFrame;
    await t.step(path, () => {
      const frame = parseFrame(sample.text ?? JSON.stringify(sample.message));
      assert.ok("fault" in frame, "the frame was taken");
      assert.equal(frame.fault, sample.fault);
      assert.ok(frame.detail.includes(sample.detail), frame.detail);
    });
  }
});

Deno.test("good bodies are accepted and encode to the same JSON", async (t) => {
  for (const { folder, path, text } of bodies.filter(({ kind }) => kind === "valid")) {
    await t.step(path, () => {
      const value: unknown = schemaOf(folder).parse(JSON.parse(text));
      assert.deepEqual(JSON.parse(JSON.stringify(value)), JSON.parse(text));
    });
  }
});

Deno.test("bodies get their defaults and their one normalization [proto-body-crlf]", async (t) => {
  for (const { folder, path, text } of bodies.filter(({ kind }) => kind === "normalized")) {
    const sample = JSON.parse(text) as { message: unknown; becomes: unknown };
    await t.step(path, () => {
      assert.deepEqual(schemaOf(folder).parse(sample.message), sample.becomes);
      assert.deepEqual(schemaOf(folder).parse(sample.becomes), sample.becomes);
    });
  }
});

Deno.test("every bad field of a bad body is named [proto-body-controls]", async (t) => {
  for (const { folder, path, text } of bodies.filter(({ kind }) => kind === "invalid")) {
    const sample = JSON.parse(text) as { message: unknown; faults: unknown };
    await t.step(path, () => {
      const parsed = schemaOf(folder).safeParse(sample.message);
      assert.ok(!parsed.success, "the body was taken");
      assert.deepEqual(fieldFaults(parsed.error), sample.faults);
    });
  }
});
