/** Attacks by a hostile relay on the frames of an open mirror: screens for the phone, and keys for the host. */
import { encodeKeyInput } from "../../src/protocol/key_input.ts";
import { MIRROR_SILENT_MS } from "../../src/protocol/limits.ts";
import {
  decodeBinaryFrame,
  encodeBinaryFrame,
  encodeMirror,
  encodeSequenced,
  PANE_FRAME,
} from "../../src/protocol/pane_frame.ts";
import { SkippingClock } from "./fake_clock.ts";
import { type Attack, isSame, type Way, WAYS } from "./hostile_relay.ts";
import { attacked, EVIL, type Expectation, type Mode, type Row } from "./hostile_stage.ts";
import { until } from "./until.ts";

const TAMPERED = /^Live.*Some data was lost, changed or repeated on the way/;
const UNOPENED = /^The data could not be decrypted/;
const inBoth = (expect: Expectation): Record<Mode, Expectation> => ({ psk: expect, base: expect });

/** A frame's header: kind and stream. */
const HEADER_BYTES = 5;

/** Changes frames in one direction; `done` is true once it changes no more. */
interface Tampering extends Attack {
  readonly done: boolean;
}

/** Replaces the first frame with the result of `change`; while that is undefined, `change` also gets the next frame. */
function tampering(way: Way, change: (...frames: Uint8Array[]) => Uint8Array[] | undefined): Tampering {
  const held: Uint8Array[] = [];
  let done = false;
  return {
    get done() {
      return done;
    },
    bytes: (bytes, at) => {
      if (done || !isSame(at, way)) return [bytes];
      held.push(bytes.slice());
      const out = change(...held);
      done = out !== undefined;
      return out ?? [];
    },
  };
}

function flipped(frame: Uint8Array): Uint8Array {
  const changed = frame.slice();
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  return changed;
}

/** Returns a plain frame, made up by the relay, in the same stream. */
function madeUp(frame: Uint8Array): Uint8Array {
  const { kind = 0, stream = 0 } = decodeBinaryFrame(frame) ?? {};
  const bytes = kind === PANE_FRAME
    ? encodeMirror({ tag: "O", bytes: new TextEncoder().encode(EVIL) })
    : encodeKeyInput({ type: "text", text: EVIL });
  return encodeBinaryFrame({ kind, stream, payload: encodeSequenced(0n, bytes) });
}

const CHANGES: Record<string, (...frames: Uint8Array[]) => Uint8Array[] | undefined> = {
  "flips a bit of": (one = new Uint8Array()) => [flipped(one)],
  "truncates": (one = new Uint8Array()) => [one.slice(0, -4)],
  "empties": (one = new Uint8Array()) => [one.slice(0, HEADER_BYTES)],
  "repeats": (one = new Uint8Array()) => [one, one],
  "swaps two of": (one = new Uint8Array(), other) => other && [other, one],
  "drops": () => [],
  "puts one of its own before": (one = new Uint8Array()) => [madeUp(one), one],
};

/** An attack on a screen frame: whatever happens to the frames, the screen must be correct afterwards. */
function onScreen(name: string): Row {
  return {
    name: `${name} a frame of the screen`,
    expect: inBoth({ phone: TAMPERED }),
    run: async (stage) => {
      const { phone, watched } = await stage.watching();
      const attack = tampering(WAYS.toPhone, CHANGES[name] ?? (() => []));
      stage.attack(attack);
      await until("the attack", async () => {
        await stage.draw(stage.text());
        return attack.done;
      });
      await stage.clearLine();
      const last = stage.text();
      await stage.draw(last);
      await until("the right screen", () => watched.text().includes(last));
      return attacked(phone, watched);
    },
  };
}

/** An attack on a key frame: keys typed before it establish the stream's key, and others follow. */
function onKeys(name: string, phone: RegExp): Row {
  return {
    name: `${name} a frame of keys`,
    expect: inBoth({ phone, host: /a frame was dropped|keys_lost/ }),
    run: async (stage) => {
      const { phone, watched } = await stage.watching();
      const press = (): void => watched.type({ type: "text", text: stage.text() });
      press();
      await until("the first keys", () => watched.keys.at(-1)?.state === "typed");
      const attack = tampering(WAYS.fromPhone, CHANGES[name] ?? (() => []));
      stage.attack(attack);
      press();
      press();
      await until("the attack", () => attack.done);
      return attacked(phone, watched);
    },
  };
}

/** Two mirrors of one phone; frames sealed for one arrive at the other. */
function splicing(way: Way, expect: Expectation): Row {
  const isDown = way.direction === "down";
  return {
    name: `puts ${
      isDown
        ? "the screen of one session into another's mirror"
        : "keys for one session into another's stream"
    }`,
    expect: inBoth(expect),
    run: async (stage) => {
      const { phone, watched } = await stage.watching();
      const other = phone.watch(stage.other.name);
      await other.live();
      const [here, there] = stage.relay.frames("pane.open", WAYS.fromPhone).slice(-2).map(({ data }) =>
        Number(data.stream)
      );
      const [from, to] = isDown ? [there, here] : [here, there];
      stage.attack({
        bytes: (bytes, at) => {
          const { kind = 0, stream, payload = bytes } = decodeBinaryFrame(bytes) ?? {};
          if (!isSame(at, way) || stream !== from) return [bytes];
          return [encodeBinaryFrame({ kind, stream: to ?? 0, payload })];
        },
      });
      if (isDown) {
        await stage.stack.sandbox.tmux("send-keys", "-l", "-t", `=${stage.other.name}:`, stage.text());
      } else watched.type({ type: "text", text: stage.text() });
      return attacked(phone, ...(isDown ? [watched, other] : [other, watched]));
    },
  };
}

const HOLDING_BACK: readonly Row[] = [
  {
    name: "holds the screen back",
    expect: inBoth({
      phone: /^Live.*Nothing has come from the host for a while: the screen may be out of date/,
    }),
    run: async (stage) => {
      const clock = new SkippingClock();
      const { phone, watched } = await stage.watching(clock);
      stage.attack({ bytes: (bytes, way) => isSame(way, WAYS.toPhone) ? [] : [bytes] });
      clock.skip(MIRROR_SILENT_MS);
      return attacked(phone, watched);
    },
  },
  {
    name: "holds the last keys back",
    expect: inBoth({ phone: /^Live.*The last keys have not reached the host/ }),
    run: async (stage) => {
      const { phone, watched } = await stage.watching();
      stage.attack({ bytes: (bytes, way) => isSame(way, WAYS.fromPhone) ? [] : [bytes] });
      watched.type({ type: "text", text: stage.text() });
      return attacked(phone, watched);
    },
  },
];

export const FRAME_ROWS: readonly Row[] = [
  ...Object.keys(CHANGES).map(onScreen),
  ...Object.keys(CHANGES).map((name) => onKeys(name, /Some data was lost, changed or repeated on the way/)),
  splicing(WAYS.toPhone, { phone: TAMPERED }),
  splicing(WAYS.fromPhone, { phone: UNOPENED, host: /unsealable/ }),
  ...HOLDING_BACK,
];
