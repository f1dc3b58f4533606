/** What a hostile relay makes up: replays of earlier mirrors, and phones and messages that do not exist. */
import { importSecret, newSecret } from "../../src/crypto/paired_secret.ts";
import { sealMessage } from "../../src/crypto/stored_message.ts";
import { beginStream } from "../../src/crypto/stream.ts";
import { encodeKeyInput } from "../../src/protocol/key_input.ts";
import { encodeBinaryFrame, encodeSequenced, KEY_FRAME } from "../../src/protocol/pane_frame.ts";
import { NOT_OPENED } from "./hostile_messages.ts";
import { WAYS } from "./hostile_relay.ts";
import { attacked, EVIL, type HostileStage, type Mode, type Row } from "./hostile_stage.ts";
import { until } from "./until.ts";

type Data = Record<string, unknown>;

/** Replays a whole earlier mirror with its keys. */
function replaying(name: string, between: (stage: HostileStage) => Promise<void>): Row {
  return {
    name,
    expect: { psk: { host: /unsealable/ }, base: { host: /unsealable/ } },
    run: async (stage) => {
      const { relay } = stage;
      const before = relay.crossed.length;
      const { phone, watched } = await stage.watching();
      watched.type({ type: "text", text: stage.text() });
      await until("the keys", () => watched.keys.at(-1)?.state === "typed");
      const crossed = relay.crossed.slice(before);
      const opened = crossed.find((one) => "frame" in one && one.frame.event === "pane.open");
      const keys = crossed.flatMap((one) =>
        "bytes" in one && one.way.side === "phone" && one.way.direction === "up" ? [one.bytes] : []
      );
      await between(stage);
      const data = opened && "frame" in opened ? opened.frame.data : {};
      await knock(stage, { ...data, stream: 900_001 });
      for (const frame of keys) relay.say(WAYS.toHost, keyFrame(900_001, frame.slice(5)));
      return attacked(phone);
    },
  };
}

const keyFrame = (stream: number, payload: Uint8Array): Uint8Array =>
  encodeBinaryFrame({ kind: KEY_FRAME, stream, payload });

/** Requests a mirror from the host in a phone's name; resolves with undefined when it is refused. */
async function knock({ relay }: HostileStage, open: Data): Promise<Data | undefined> {
  const answers = (event: string): Data[] =>
    relay.frames(event, WAYS.fromHost).map(({ data }) => data).filter(({ stream }) => stream === open.stream);
  const before = answers("pane.opened").length + answers("pane.closed").length;
  relay.say(WAYS.toHost, { event: "pane.open", data: open });
  await until(
    "the host's answer",
    () => answers("pane.opened").length + answers("pane.closed").length > before,
  );
  return answers("pane.closed").length > 0 ? undefined : answers("pane.opened").at(-1);
}

let minted = 910_000;

/** The relay itself requests a mirror and types. */
function mintingPhone(name: string, expect: Row["expect"], as: "off" | Mode): Row {
  return {
    name,
    expect,
    run: async (stage) => {
      const phone = await stage.phone();
      const parties = {
        phone: phone.deviceId,
        listener: stage.stack.deviceId,
        agentSessionName: stage.session.name,
      };
      const secret = as === "psk" ? await importSecret(newSecret()) : undefined;
      const own = as === "off" ? undefined : await beginStream(parties, { secret });
      const stream = ++minted;
      const opened = await knock(stage, { stream, agentSessionName: stage.session.name, ...own?.hello });
      const channel = opened && await own?.finish(opened);
      const keys = encodeKeyInput({ type: "text", text: EVIL });
      const payload = await channel?.sealer.seal(keys) ?? encodeSequenced(0n, keys);
      stage.relay.say(WAYS.toHost, keyFrame(stream, payload));
      return attacked(phone);
    },
  };
}

/** The relay itself sends a message. */
function mintingMessage(name: string, expect: Row["expect"], as: "off" | Mode): Row {
  return {
    name,
    expect,
    run: async (stage) => {
      const phone = await stage.phone();
      const boundTo = {
        id: crypto.randomUUID(),
        type: "agent.command",
        from: phone.deviceId,
        targetDeviceId: stage.stack.deviceId,
        agentSessionName: stage.session.name,
        sendAnyway: false,
      };
      const [createdAt, expiresAt] = [Date.now(), Date.now() + 3_600_000];
      const secret = as === "psk" ? await importSecret(newSecret()) : undefined;
      const content = { body: EVIL, notAfter: expiresAt };
      const text = as === "off"
        ? { body: EVIL }
        : { sealed: await sealMessage(content, { boundTo, publicKey: stage.hostKey, secret }) };
      const { sendAnyway: _anyway, ...fields } = boundTo;
      stage.relay.say(WAYS.toHost, { event: "push.new", data: { ...fields, ...text, createdAt, expiresAt } });
      return attacked(phone);
    },
  };
}

export const MINTED_ROWS: readonly Row[] = [
  replaying("replays an earlier mirror and its keys to the host", () => Promise.resolve()),
  replaying("replays an earlier mirror after the host was restarted", (stage) => stage.restartHost()),
  mintingPhone("mints a phone that speaks plain", {
    psk: { host: /mirror of \S+ for an unnamed phone: sealed_required/ },
    base: { host: /sealed_required/ },
  }, "off"),
  mintingPhone("mints a phone with keys of its own", {
    psk: { host: /sealed_required/ },
    base: { outcome: "gap", typed: true },
  }, "base"),
  mintingPhone("mints a phone in a paired one's name", {
    psk: { host: /unsealable/ },
    base: { host: /unsealable/ },
  }, "psk"),
  mintingMessage("mints a plain message", {
    psk: { host: /refused sealed_required/ },
    base: { host: /refused sealed_required/ },
  }, "off"),
  mintingMessage("mints a message sealed with the host's public key", {
    psk: { host: /refused sealed_required/ },
    base: { outcome: "gap", host: /submitted/, typed: true },
  }, "base"),
  mintingMessage("mints a message in a paired phone's name", {
    psk: { host: NOT_OPENED },
    base: { host: /not opened: this host is not paired with it/ },
  }, "psk"),
];
