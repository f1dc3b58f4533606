/** Relay, listener and sessions of real programs, each mirrored to a phone, for tests of the phone's screen. */
import { compare, type Comparison } from "./cells.ts";
import { MirrorPhone, type MirrorPhoneOptions } from "./mirror_phone.ts";
import { makeStack, type Stack } from "./stack.ts";
import { until } from "./until.ts";

export interface MirrorStage extends AsyncDisposable {
  stack: Stack;
  /** Starts the program as its pane's own process; resolves with the session's name once it is executed. */
  start(argv: readonly string[], size?: { cols: number; rows: number }): Promise<string>;
  /** Resolves with a phone that has a live mirror of the session. */
  watch(session: string, more?: Partial<MirrorPhoneOptions>): Promise<MirrorPhone>;
  /** Returns a phone that requests the session; the request may be refused. */
  ask(session: string, more?: Partial<MirrorPhoneOptions>): MirrorPhone;
  /** Presses keys as the local user, by tmux's names for them. */
  keys(session: string, ...keys: string[]): Promise<void>;
  tmux(...args: string[]): Promise<string>;
}

let sessions = 0;

export async function makeMirrorStage(): Promise<MirrorStage> {
  const stack = await makeStack();
  const { sandbox, deviceId, apiKey } = stack;
  const phones: MirrorPhone[] = [];
  const ask = (session: string, more: Partial<MirrorPhoneOptions> = {}): MirrorPhone => {
    const phone = new MirrorPhone({ wsUrl: stack.wsUrl, apiKey, deviceId, session, ...more });
    phones.push(phone);
    return phone;
  };
  return {
    stack,
    async start(argv, { cols, rows } = { cols: 100, rows: 30 }): Promise<string> {
      const session = `svc-stage-${++sessions}`;
      const size = ["-x", String(cols), "-y", String(rows)];
      const place = ["-c", sandbox.project, "-e", `HOME=${sandbox.home}`];
      await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", session, ...size, ...place, ...argv);
      await sandbox.executed(session);
      return session;
    },
    ask,
    async watch(session, more): Promise<MirrorPhone> {
      const phone = ask(session, more);
      await phone.live();
      return phone;
    },
    keys: async (session, ...keys) => void await sandbox.tmux("send-keys", "-t", `=${session}:`, ...keys),
    tmux: sandbox.tmux,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const phone of phones) phone[Symbol.dispose]();
      await stack[Symbol.asyncDispose]();
    },
  };
}

/** Waits until the phone's terminal equals tmux's pane in every character, cursor, mode and attribute that tmux reports. */
export async function untilEqual(
  stage: MirrorStage,
  { phone, session, what, inARow = 3 }: {
    phone: MirrorPhone;
    session: string;
    what: string;
    /** How many comparisons in a row must agree: while a program still draws, a single one proves little. */
    inARow?: number;
  },
): Promise<Comparison> {
  let found: Comparison | undefined;
  let equal = 0;
  await until(`${what}: the same cells`, async () => {
    found = await compare(phone.terminal, stage.tmux, `=${session}:`);
    equal = isEqual(found) ? equal + 1 : 0;
    return equal === inARow;
  }).catch((error) => {
    throw new Error(`${error.message}\n${JSON.stringify(shortened(found), undefined, 1)}`);
  });
  if (found === undefined) throw new Error("nothing was compared");
  return found;
}

export function isEqual({ characters, attributes, facts }: Comparison): boolean {
  return characters.length + attributes.length + facts.length === 0;
}

function shortened(found: Comparison | undefined): unknown {
  const few = Object.entries(found ?? {}).map(([name, all]) => [name, all.length, all.slice(0, 5)]);
  return few;
}
