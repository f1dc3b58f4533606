/** Sealed mirrors on the real stack: a passive relay sees no screen and no keystroke; one that swaps keys gets neither. */
import assert from "node:assert/strict";
import { systemClock } from "../../src/async/clock.ts";
import { RelayLink } from "../../src/client/relay_link.ts";
import { beginStream } from "../../src/crypto/stream.ts";
import { decodeBinaryFrame } from "../../src/protocol/pane_frame.ts";
import { type TerminalState, TerminalStream } from "../../src/phone/terminal_stream.ts";
import { pairScriptedPhone, type ScriptedPhone } from "../helpers/scripted_phone.ts";
import { keySwapper, tappedStack } from "../helpers/tapped_stack.ts";
import { until } from "../helpers/until.ts";

interface Watching {
  stream: TerminalStream;
  states: TerminalState[];
  /** Returns everything that was written to the phone's terminal. */
  shown(): string;
  isConnected(): boolean;
  close(): void;
}

/** Opens the phone's own mirror through the tap; `secret` replaces the paired one. */
async function watch(
  phone: ScriptedPhone,
  { session, wsUrl, secret = phone.host.secret }: { session: string; wsUrl: string; secret?: CryptoKey },
): Promise<Watching> {
  const written: string[] = [];
  const states: TerminalState[] = [];
  let streams = 0;
  const listener = phone.host.deviceId;
  const stream = new TerminalStream({ deviceId: listener, session }, {
    link: {
      send: (event, data) => link.send(event, data),
      sendBinary: (bytes) => link.sendBinary(bytes),
    },
    handshake: () => beginStream({ phone: phone.deviceId, listener, agentSessionName: session }, { secret }),
    nextStream: () => ++streams,
    terminal: {
      write: (data, done) => {
        written.push(typeof data === "string" ? data : new TextDecoder().decode(data));
        done?.();
      },
      resize: () => {},
      input: () => {},
    },
    clock: systemClock,
    random: () => 0.5,
    onState: (state) => void states.push(state),
    onStatus: () => {},
    onDrawn: () => {},
  });
  const link: RelayLink = new RelayLink({
    wsUrl,
    apiKey: phone.apiKey,
    hello: () => ({ role: "phone", name: "iPhone", version: "0", capabilities: [] }),
    onFrame: (frame) => {
      if (frame.event === "pane.opened") void stream.onOpened(frame.data);
      if (frame.event === "pane.closed") stream.onClosed(frame.data);
    },
    onBinary: (bytes) => {
      const frame = decodeBinaryFrame(bytes);
      if (frame) void stream.onBytes(frame.stream, frame.payload.slice());
    },
    onState: () => {},
  });
  link.start();
  await until("the phone's link", () => link.connected);
  await stream.open();
  return {
    stream,
    states,
    shown: () => written.join(""),
    isConnected: () => link.connected,
    close: () => {
      stream.close();
      link.close();
    },
  };
}

const isLive = ({ states }: Watching): boolean => states.at(-1)?.kind === "live";
const ends = ({ states }: Watching): string[] =>
  states.filter((state) => state.kind === "ended").map(({ reason }) => reason);

Deno.test("a paired phone sees the screen and types, and neither crosses the relay in the clear; once revoked, it is cut off by the host [seal-psk, seal-context, sec-passive-relay, enc-envelope, enc-keys, pair-devices, hostile-relay]", async () => {
  await using tapped = await tappedStack({ requireEncryption: "psk" });
  const { stack, tap } = tapped;
  const { name, screen } = await stack.echo();
  const phone = await pairScriptedPhone(await tapped.stack.pairLink());
  const watching = await watch(phone, { session: name, wsUrl: tapped.wsUrl });
  await until("the mirror", () => isLive(watching) && watching.shown() !== "");
  assert.ok(watching.states.some((state) => state.kind === "live" && state.sealing === "psk"));
  watching.stream.type({ type: "text", text: "typed-by-key" });
  await until("the keys in the pane", async () => (await screen()).includes("typed-by-key"));
  await until("the keys on the phone", () => watching.shown().includes("typed-by-key"));
  assert.ok(tap.seen().includes("pane.opened"));
  assert.ok(!tap.seen().includes("typed-by-key") && !tap.seen().includes("Echo agent"));

  assert.equal((await stack.svc("devices", "revoke", phone.deviceId)).code, 0);
  // The relay may close the phone's socket before it has forwarded this.
  await until("the host ends the stream", () => /"pane\.closed"[^\n]{0,200}"revoked"/.test(tap.seen()));
  await until("the phone's end", () => ends(watching).includes("revoked") || !watching.isConnected());
  watching.close();
});

Deno.test("a relay that swaps the host's key of a mirror shows nothing and types nothing, and the phone says so [sec-active-relay, seal-psk, hostile-relay]", async () => {
  const swap = await keySwapper(/"event":"pane.opened"[^\n]*?"publicKey":"[\w-]{87}"/);
  await using tapped = await tappedStack({ requireEncryption: "psk" }, swap);
  const { stack } = tapped;
  const { name, screen } = await stack.echo();
  const before = await screen();
  const phone = await pairScriptedPhone(await tapped.stack.pairLink());
  const watching = await watch(phone, { session: name, wsUrl: tapped.wsUrl });
  await until("the phone to report it", () => ends(watching).includes("unsealable"));
  watching.stream.type({ type: "text", text: "typed-by-key" });
  assert.equal(watching.shown().replaceAll("\u001bc", ""), "");
  assert.equal(await screen(), before);
  watching.close();
});

Deno.test("a relay that swaps the phone's key gets no screen, and the phone says so [sec-active-relay, seal-psk, hostile-relay]", async () => {
  const swap = await keySwapper(/"event":"pane.open"[^\n]*?"publicKey":"[\w-]{87}"/);
  await using tapped = await tappedStack({ requireEncryption: "psk" }, swap);
  const { name } = await tapped.stack.echo();
  const phone = await pairScriptedPhone(await tapped.stack.pairLink());
  const watching = await watch(phone, { session: name, wsUrl: tapped.wsUrl });
  await until("the phone to report it", () => ends(watching).includes("unsealable"));
  assert.equal(watching.shown().replaceAll("\u001bc", ""), "");
  watching.close();
});

Deno.test("a mirror requested with another phone's secret shows nothing [seal-psk]", async () => {
  await using tapped = await tappedStack({ requireEncryption: "psk" });
  const { name } = await tapped.stack.echo();
  const phone = await pairScriptedPhone(await tapped.stack.pairLink());
  const other = await pairScriptedPhone(await tapped.stack.pairLink());
  const wrong = await watch(phone, { session: name, wsUrl: tapped.wsUrl, secret: other.host.secret });
  await until("the refusal", () => ends(wrong).includes("unsealable"));
  assert.equal(wrong.shown().replaceAll("\u001bc", ""), "");
  wrong.close();
});
