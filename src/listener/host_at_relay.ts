/** This host as its relay sees it: its name, device id and public key, and how far its clock is from the relay's. */
import { runtime } from "#runtime";
import { errorText } from "../async/error_text.ts";
import { exportPublicKey } from "../crypto/keys.ts";
import { type Config, deviceNameOf } from "../home/config.ts";
import { ensureIdentity, withPairedLock } from "../home/pairing.ts";
import { listenerDeviceId } from "../protocol/names.ts";
import type { HomePaths } from "../home/paths.ts";
import { type Clock, ClockJumps, systemClock } from "../async/clock.ts";

export interface HostIdentity {
  name: string;
  deviceId: string;
  /** Undefined if the identity file cannot be used, which pairing reports. */
  publicKey: string | undefined;
}

interface IdentityOptions {
  paths: HomePaths;
  config: Config;
  log(line: string): void;
}

export async function readIdentity(options: IdentityOptions): Promise<HostIdentity> {
  const name = deviceNameOf(options.config, runtime.hostname());
  return { name, deviceId: await listenerDeviceId(name), publicKey: await publicIdentity(options) };
}

async function publicIdentity({ paths, log }: IdentityOptions): Promise<string | undefined> {
  const { files } = runtime;
  try {
    const identity = await withPairedLock(files, paths, () => ensureIdentity(files, paths));
    return await exportPublicKey(identity.publicKey);
  } catch (error) {
    log(`identity: not sent to the relay: ${errorText(error)}`);
    return undefined;
  }
}

export interface RelayClockOptions {
  /** Called once for each jump of this host's clock. The relay's time is unknown until the next connection. */
  jumped(): void;
  clock?: Pick<Clock, "now" | "elapsed">;
}

/** Converts the relay's times to this host's, and notices when this host's clock was set or the host has slept. */
export class RelayClock {
  readonly #options: RelayClockOptions;
  /** Since the offset was measured or a jump was noticed. */
  readonly #jumps: ClockJumps;
  /** The relay's clock minus this one, in milliseconds. */
  #offsetMs = 0;
  #isKnown = false;

  constructor(options: RelayClockOptions) {
    this.#options = options;
    this.#jumps = new ClockJumps(options.clock ?? systemClock);
  }

  /** `offsetMs`: the relay's clock minus this one, from its welcome. */
  connected(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    this.#isKnown = true;
    this.#jumps.forget();
  }

  /** False from a jump to the next welcome: the relay's times may be hours off. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Epoch milliseconds of this host. */
  toLocalTime(relayMs: number): number {
    return relayMs - this.#offsetMs;
  }

  /** Checks for a jump. Call it often: until a jump is noticed, messages may expire at the wrong time. */
  check(): void {
    if (!this.#jumps.check()) return;
    this.#isKnown = false;
    this.#options.jumped();
  }
}
