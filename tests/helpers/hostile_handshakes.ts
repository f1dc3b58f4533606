/** Attacks by a hostile relay on the opening of a mirror. */
import { importSecret, newSecret } from "../../src/crypto/paired_secret.ts";
import { plainChannel } from "../../src/crypto/stream.ts";
import { encodeBinaryFrame, encodeMirror, PANE_FRAME } from "../../src/protocol/pane_frame.ts";
import { type Attack, rewriting, WAYS } from "./hostile_relay.ts";
import { manInTheMiddle, mintedListener, newPublicKey } from "./hostile_parties.ts";
import { attacked, EVIL, type Expectation, type HostileStage, type Row } from "./hostile_stage.ts";
import { until } from "./until.ts";

const UNOPENED = /^The data could not be decrypted/;
const BELOW_FLOOR = /^This host shows its terminals to paired phones only/;
const REPORTED = { psk: { phone: UNOPENED }, base: { phone: UNOPENED } };

/** The phone opens the terminal while the relay does this. */
function opening(
  name: string,
  expect: Row["expect"],
  attackOf: (stage: HostileStage) => Attack | Promise<Attack>,
): Row {
  return {
    name,
    expect,
    run: async (stage) => {
      const phone = await stage.phone();
      stage.attack(await attackOf(stage));
      return attacked(phone, phone.watch(stage.session.name));
    },
  };
}

export const madeUpSecret = async (): Promise<CryptoKey | undefined> => await importSecret(newSecret());

/** Answers as if no encryption had been requested, with a made-up screen. */
function answersPlain({ relay }: HostileStage): Attack {
  return rewriting("pane.opened", WAYS.toPhone, ({ stream, cols, rows }) => {
    void plainChannel().sealer.seal(encodeMirror({ tag: "S", bytes: new TextEncoder().encode(EVIL) }))
      .then((payload = new Uint8Array()) =>
        relay.answer(WAYS.toPhone, encodeBinaryFrame({ kind: PANE_FRAME, stream: Number(stream), payload }))
      );
    return { stream, cols, rows };
  });
}

/** Replays the answer and the frames of an earlier mirror to the phone. */
async function replaysAnswer(stage: HostileStage): Promise<Attack> {
  const { relay } = stage;
  const before = relay.crossed.length;
  {
    using earlier = await stage.watching();
    void earlier;
  }
  const crossed = relay.crossed.slice(before);
  const answer = crossed.find((one) => "frame" in one && one.frame.event === "pane.opened");
  const frames = crossed.flatMap((one) => "bytes" in one && one.way.side === "phone" ? [one.bytes] : []);
  const old = answer !== undefined && "frame" in answer ? answer.frame.data : {};
  return {
    ...rewriting("pane.opened", WAYS.toPhone, ({ stream }) => ({ ...old, stream })),
    bytes: (bytes, way) => {
      const replayed = way.direction === "down" && way.side === "phone" ? frames.shift() : undefined;
      if (replayed === undefined) return [bytes];
      const payload = replayed.slice(5);
      return [
        encodeBinaryFrame({ kind: PANE_FRAME, stream: new DataView(bytes.buffer).getUint32(1), payload }),
      ];
    },
  };
}

/** The mirror works and is sealed as before. */
const UNHARMED: Record<"psk" | "base", Expectation> = {
  psk: { outcome: "no effect", phone: /^Live, \d+ × \d+ · End-to-end encrypted$/ },
  base: { outcome: "no effect", phone: /^Live, \d+ × \d+ · Host not verified, encrypted$/ },
};

export const HANDSHAKE_ROWS: readonly Row[] = [
  opening("swaps the phone's key", REPORTED, async () => {
    const publicKey = await newPublicKey();
    return rewriting("pane.open", WAYS.fromPhone, (data) => ({ ...data, publicKey }));
  }),
  opening("swaps the host's key", REPORTED, async () => {
    const publicKey = await newPublicKey();
    return rewriting("pane.opened", WAYS.toPhone, (data) => ({ ...data, publicKey }));
  }),
  opening("swaps both keys and stands in the middle", {
    psk: { phone: UNOPENED },
    base: { outcome: "gap", phone: /Host not verified/, typed: true, shown: true },
  }, manInTheMiddle),
  opening("mints a listener that speaks for the host", {
    psk: { phone: UNOPENED },
    base: { outcome: "gap", phone: /Host not verified/, shown: true },
  }, (stage) => mintedListener(stage, { seals: true })),
  opening(
    "mints a listener that speaks plain",
    REPORTED,
    (stage) => mintedListener(stage, { seals: false }),
  ),
  opening("names another phone", {
    psk: { phone: UNOPENED, host: /mirror of \S+ for dev_phone_other: unsealable/ },
    base: { phone: UNOPENED },
  }, () => rewriting("pane.open", WAYS.fromPhone, (data) => ({ ...data, from: "dev_phone_other" }))),
  opening(
    "opens another session than the requested one",
    REPORTED,
    ({ other }) => rewriting("pane.open", WAYS.toHost, (data) => ({ ...data, agentSessionName: other.name })),
  ),
  opening(
    "asks the host for a weaker mode",
    {
      psk: { phone: BELOW_FLOOR, host: /sealed_required/ },
      base: { phone: BELOW_FLOOR, host: /sealed_required/ },
    },
    ({ mode }) =>
      rewriting(
        "pane.open",
        WAYS.fromPhone,
        ({ publicKey, mode: asked, ...data }) =>
          mode === "psk" ? { ...data, publicKey, mode: "base" } : { ...data, mode: asked },
      ),
  ),
  opening("asks the host for a plain mirror", {
    psk: { phone: BELOW_FLOOR, host: /sealed_required/ },
    base: { phone: BELOW_FLOOR, host: /sealed_required/ },
  }, () => rewriting("pane.open", WAYS.fromPhone, ({ publicKey: _key, mode: _mode, ...data }) => data)),
  opening(
    "answers with a weaker mode",
    REPORTED,
    ({ mode }) =>
      rewriting(
        "pane.opened",
        WAYS.toPhone,
        (data) => ({ ...data, mode: mode === "psk" ? "base" : undefined }),
      ),
  ),
  opening("answers plain, with a screen of its own", REPORTED, answersPlain),
  opening("answers with an earlier mirror", REPORTED, replaysAnswer),
  {
    name: "reports another size than the host's",
    expect: UNHARMED,
    run: async (stage) => {
      const phone = await stage.phone();
      stage.attack(rewriting("pane.opened", WAYS.toPhone, (data) => ({ ...data, cols: 11, rows: 3 })));
      const watched = phone.watch(stage.session.name);
      await until("the host's own size", () => watched.terminal.cols === 80 && watched.drawn > 0);
      return attacked(phone, watched);
    },
  },
  {
    name: "calls the phone by another name",
    expect: UNHARMED,
    run: async (stage) => {
      stage.attack(rewriting("welcome", WAYS.toPhone, (data) => ({ ...data, deviceId: "dev_phone_other" })));
      const { phone, watched } = await stage.watching();
      return attacked(phone, watched);
    },
  },
];
