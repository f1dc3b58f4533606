/** A hostile relay that plays a host, a phone, or both at once, with its own keys. */
import { exportPublicKey, generateKeyPair } from "../../src/crypto/keys.ts";
import {
  acceptStream,
  beginStream,
  plainChannel,
  type StreamChannel,
  type StreamHello,
  type StreamParties,
} from "../../src/crypto/stream.ts";
import { importSecret, newSecret } from "../../src/crypto/paired_secret.ts";
import { encodeKeyInput } from "../../src/protocol/key_input.ts";
import {
  decodeBinaryFrame,
  encodeBinaryFrame,
  encodeMirror,
  KEY_FRAME,
  PANE_FRAME,
} from "../../src/protocol/pane_frame.ts";
import { type Attack, isSame, rewriting, WAYS } from "./hostile_relay.ts";
import { EVIL, type HostileStage } from "./hostile_stage.ts";

export async function newPublicKey(): Promise<string> {
  return await exportPublicKey((await generateKeyPair()).publicKey);
}

const EVIL_SCREEN = encodeMirror({ tag: "S", bytes: new TextEncoder().encode(EVIL) });
const EVIL_KEYS = encodeKeyInput({ type: "text", text: EVIL });

/** In psk mode the relay can only use a secret of its own. */
export async function guessedSecret({ mode }: { mode: "psk" | "base" }): Promise<CryptoKey | undefined> {
  return mode === "psk" ? await importSecret(newSecret()) : undefined;
}

function partiesOf(
  stage: HostileStage,
  { from = "", deviceId, agentSessionName }: Record<string, unknown>,
): StreamParties {
  return {
    phone: String(from),
    listener: String(deviceId ?? stage.stack.deviceId),
    agentSessionName: String(agentSessionName),
  };
}

function helloOf({ publicKey, mode }: Record<string, unknown>): StreamHello {
  return { publicKey: String(publicKey), mode: mode === "psk" ? "psk" : "base" };
}

/** Answers the phone in the host's name; the host never sees the request. */
export function mintedListener(stage: HostileStage, { seals }: { seals: boolean }): Attack {
  return rewriting("pane.open", WAYS.fromPhone, (data) => {
    void answer(data);
    return undefined;
  });

  async function answer(data: Record<string, unknown>): Promise<void> {
    const stream = Number(data.stream);
    const secret = await guessedSecret(helloOf(data));
    const granted = seals
      ? await acceptStream(partiesOf(stage, data), { hello: helloOf(data), secret })
      : { hello: {}, channel: plainChannel() };
    const { relay } = stage;
    relay.answer(WAYS.toPhone, {
      event: "pane.opened",
      data: { stream, cols: 80, rows: 24, ...granted?.hello },
    });
    const payload = await granted?.channel.sealer.seal(EVIL_SCREEN) ?? new Uint8Array();
    relay.answer(WAYS.toPhone, encodeBinaryFrame({ kind: PANE_FRAME, stream, payload }));
  }
}

/** Terminates the mirror's encryption at the relay, which opens the frames of each side and seals them again. */
export function manInTheMiddle(stage: HostileStage): Attack {
  const { relay } = stage;
  let open: Record<string, unknown> = {};
  let own: Awaited<ReturnType<typeof beginStream>> | undefined;
  let [toHost, toPhone]: (StreamChannel | undefined)[] = [];

  const ask = async (): Promise<void> => {
    own = await beginStream(partiesOf(stage, open), { secret: await guessedSecret(stage) });
    relay.answer(WAYS.fromPhone, { event: "pane.open", data: { ...open, ...own.hello } });
  };
  const grant = async (data: Record<string, unknown>): Promise<void> => {
    toHost = await own?.finish(helloOf(data));
    const secret = await guessedSecret(stage);
    const granted = await acceptStream(partiesOf(stage, open), { hello: helloOf(open), secret });
    toPhone = granted?.channel;
    relay.answer(WAYS.toPhone, { event: "pane.opened", data: { ...data, ...granted?.hello } });
    await send(EVIL_SCREEN, PANE_FRAME);
    await send(EVIL_KEYS, KEY_FRAME);
  };
  const send = async (bytes: Uint8Array, kind: number): Promise<void> => {
    const [channel, way] = kind === PANE_FRAME ? [toPhone, WAYS.toPhone] : [toHost, WAYS.fromPhone];
    const payload = await channel?.sealer.seal(bytes);
    if (payload) relay.answer(way, encodeBinaryFrame({ kind, stream: Number(open.stream), payload }));
  };

  return {
    frame: (frame, way) => {
      if (frame.event === "pane.open" && isSame(way, WAYS.fromPhone)) {
        open = frame.data;
        void ask();
      } else if (frame.event === "pane.opened" && isSame(way, WAYS.toPhone)) void grant(frame.data);
      else return [frame];
      return [];
    },
    bytes: (bytes, way) => {
      if (way.side !== "phone") return [bytes];
      const { kind = 0, payload = bytes } = decodeBinaryFrame(bytes) ?? {};
      const opener = (kind === PANE_FRAME ? toHost : toPhone)?.opener;
      void opener?.open(payload).then((frame) =>
        frame.kind === "frame" ? send(frame.bytes, kind) : undefined
      );
      return [];
    },
  };
}
