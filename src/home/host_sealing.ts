/** The keys with which this host opens messages from its paired phones and seals messages for them. */
import { SharedRun } from "../async/mutex.ts";
import type { Sealing } from "../crypto/mode.ts";
import { importSecret } from "../crypto/paired_secret.ts";
import { type HostPush, type PhoneKeys, sealHostPush } from "../crypto/host_push.ts";
import { openMessage } from "../crypto/stored_message.ts";
import type { Answer } from "../protocol/ask.ts";
import { SEALED_PHONES_MAX } from "../protocol/limits.ts";
import type { Push } from "../protocol/push.ts";
import { decodeAnswer } from "../protocol/sealed_text.ts";
import type { Files } from "../runtime/types.ts";
import type { Config } from "./config.ts";
import {
  loadIdentity,
  loadPaired,
  type PairedPhone,
  pairedPhones,
  type PairingHost,
  sealingFloor,
} from "./pairing.ts";
import type { HomePaths } from "./paths.ts";

/** Who acts on a sealed answer: the program that asked, or the listener, which types a late one. */
export type AnswerTaker = "asker" | "listener";

/** A claim on a sealed question, so that it is answered only once. */
interface QuestionClaim {
  /** The answer's id. */
  answer: string;
  by: AnswerTaker;
}

export interface HostKeys {
  /** The listener's device id. */
  deviceId: string;
  /** Undefined before the first pairing. */
  identity(): Promise<CryptoKeyPair | undefined>;
  /** The secret of a pairing; undefined when the phone is not paired, and for a script, which only sends, unless `orScript` is set. */
  secretOf(phone: string, use?: { orScript?: boolean }): Promise<CryptoKey | undefined>;
  /** The secret for `svc send` on this host itself. */
  ownSecret(): Promise<CryptoKey | undefined>;
  /** False when the other program of this host has claimed this question, or another answer to it was acted on. */
  claimQuestion(id: string, claim: QuestionClaim): Promise<boolean>;
  /** The weakest encryption mode that this host accepts now; `psk` when the pairings cannot be read. */
  floor(config: Pick<Config, "requireEncryption">): Promise<Sealing>;
  /** The phones that this host's pushes are sealed for, at most `SEALED_PHONES_MAX`. */
  phones(): Promise<PhoneKeys[]>;
  /** The same without waiting for the relay: a phone that has just claimed its code is returned by a later call. */
  knownPhones(): Promise<PhoneKeys[]>;
}

/** `knownPhones` asks the relay about open codes at most this often. */
export const CLAIMS_GAP_MS = 5_000;

/** Reads the files on every call, because `svc pair` and `svc devices revoke` change them. Throws on broken files. */
export function hostKeys(host: PairingHost): HostKeys {
  // Each run may ask the relay about open pairings, and changes the file for those that were claimed.
  const paired = new SharedRun(() => pairedPhones(host));
  let askedAt = -Infinity;
  return {
    deviceId: host.deviceId,
    identity: () => loadIdentity(host.files, host.paths),
    secretOf: async (phone, { orScript = false } = {}) => {
      const found = (await paired.get()).find(({ deviceId }) => deviceId === phone);
      if (found === undefined || (found.script === true && !orScript)) return undefined;
      return await importSecret(found.secret);
    },
    ownSecret: async () => {
      const { own } = await loadPaired(host.files, host.paths);
      return own && await importSecret(own.secret);
    },
    claimQuestion: (id, claim) => claimQuestion(host.files, host.paths, { id, now: host.now(), ...claim }),
    floor: async (config) => {
      try {
        return sealingFloor(await loadPaired(host.files, host.paths), config);
      } catch {
        return config.requireEncryption ?? "psk";
      }
    },
    phones: async () => await readersOf(await paired.get()),
    knownPhones: async () => {
      const { phones, pending } = await loadPaired(host.files, host.paths);
      if (pending.length > 0 && host.now() - askedAt >= CLAIMS_GAP_MS) {
        askedAt = host.now();
        // The next caller that needs the pairings gets the same failure.
        void paired.get().catch(() => undefined);
      }
      return await readersOf(phones);
    },
  };
}

/** The phones to seal for: scripts are left out, because they only send. */
async function readersOf(paired: readonly PairedPhone[]): Promise<PhoneKeys[]> {
  const latest = paired.filter(({ script }) => script !== true).slice(-SEALED_PHONES_MAX);
  const keys = await Promise.all(latest.map(async ({ deviceId, publicKey, secret }) => {
    const key = await importSecret(secret);
    return key === undefined ? [] : [{ deviceId, publicKey, secret: key }];
  }));
  return keys.flat();
}

/** Longer than a question can be answered and a sealed answer is valid. */
const CLAIM_KEPT_MS = 8 * 24 * 3_600_000;
/** This many of the latest are kept at any age, because the clock may have been changed. */
export const CLAIMS_LATEST = 100;

/**
 * False if another answer, or the other program, has claimed the question. The same program may claim it again for the
 * same answer: its records show what it has done.
 */
export async function claimQuestion(
  files: Files,
  { answers }: Pick<HomePaths, "answers">,
  { id, answer, by, now }: QuestionClaim & { id: string; now: number },
): Promise<boolean> {
  await files.makeDirectory(answers, { mode: 0o700 });
  await forgetOld(files, answers, now);
  const path = `${answers}/${id}`;
  const claim = `${by} ${answer}`;
  if (await files.createText(path, claim, { mode: 0o600 })) return true;
  return await files.readText(path) === claim;
}

async function forgetOld(files: Files, folder: string, now: number): Promise<void> {
  const names = await files.list(folder);
  if (names.length <= CLAIMS_LATEST) return;
  const claims = await Promise.all(names.map(async (name) => {
    const path = `${folder}/${name}`;
    return { path, at: (await files.info(path))?.mtimeMs ?? now };
  }));
  const older = claims.sort((one, other) => one.at - other.at).slice(0, -CLAIMS_LATEST);
  const old = older.filter(({ at }) => at < now - CLAIM_KEPT_MS);
  await Promise.all(old.map(({ path }) => files.remove(path)));
}

/** Whoever runs the relay could read and answer an unsealed push. */
const NO_READER =
  "Not sent: what this host sends must be sealed, and no phone is paired that could read it. Pair one with: svc pair";

export interface HostSealing {
  /**
   * The push sealed for the paired phones, with `shown` as its plain data; unchanged when no phone is paired. Throws when
   * the pairings cannot be read, so that nothing is sent plain by mistake, and when this host's floor is `psk` and no
   * phone is paired.
   */
  seal(push: HostPush, shown?: Record<string, unknown>): Promise<HostPush>;
  /** Undefined unless a paired phone sealed it for this question, and `fits` accepts it. */
  openAnswer(
    push: Push,
    asked: { question: string; session: string | undefined; fits(answer: Answer): boolean },
  ): Promise<Answer | undefined>;
}

/** `config` returns the current configuration. */
export function hostSealing(
  keys: HostKeys,
  { config }: { config(): Promise<Pick<Config, "requireEncryption">> },
): HostSealing {
  return {
    seal: async (push, shown) => {
      const phones = await keys.phones();
      if (phones.length === 0 && await keys.floor(await config()) === "psk") throw new Error(NO_READER);
      return await sealHostPush(push, { host: keys.deviceId, phones, shown });
    },
    openAnswer: async (push, { question, session = "", fits }) => {
      const { sealed, id, type, from } = push;
      const [keyPair, secret] = await Promise.all([keys.identity(), keys.secretOf(from)]);
      if (sealed?.mode !== "psk" || keyPair === undefined || secret === undefined) return undefined;
      const targetDeviceId = keys.deviceId;
      const boundTo = { id, type, from, targetDeviceId, agentSessionName: session, sendAnyway: false };
      const content = await openMessage(sealed, { boundTo, keyPair, secret });
      const found = content && decodeAnswer(content.body);
      if (found?.question !== question || !fits(found.answer)) return undefined;
      // If the relay also sends this answer to the listener, it must not be typed as well.
      return await keys.claimQuestion(question, { answer: id, by: "asker" }) ? found.answer : undefined;
    },
  };
}
