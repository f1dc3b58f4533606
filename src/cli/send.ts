/** `svc send`: sends a message into a session as a phone does, and reports what happens to it. */
import { runtime } from "#runtime";
import { type Clock, PATIENCE_MS, systemClock } from "../async/clock.ts";
import { utf8Length } from "../async/encodings.ts";
import { retry } from "../async/retry.ts";
import { createRelayApi, type RelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import { waitForReceipt } from "../client/wait_for_receipt.ts";
import { RELAY_STATES } from "../crypto/paired_secret.ts";
import { absolutePath } from "../home/paths.ts";
import {
  isProvenReceipt,
  nextScriptCounter,
  ownSealer,
  scriptSealer,
  sealCommand,
} from "../home/script_pairing.ts";
import { BODY_MAX_BYTES, TTL_MAX_SECONDS, TTL_MIN_SECONDS } from "../protocol/limits.ts";
import { isSessionName } from "../protocol/names.ts";
import { DeviceId, type PushAccepted, type PushRecord, type PushRequestInput } from "../protocol/push.ts";
import { REASONS } from "../protocol/reasons.ts";
import type { Reason, Receipt } from "../protocol/receipt.ts";
import type { SessionsAnswer } from "../protocol/session.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { EXIT_FAILED, inLine, print, printError, printJson, UsageError } from "./output.ts";
import { addressInputs, pairingHost, scriptApi } from "./settings.ts";

const WAIT_DEFAULT_SECONDS = 60;
/** The relay may report this much later that a message expired, in milliseconds. */
const GRACE_MS = 5_000;
/** How long a push is sent again while its answer is missing, and the bounds of the random wait, in milliseconds. */
const RESEND_FOR_MS = 5_000;
const RESEND = { minMs: 250, maxMs: 1_000 };

interface SendOptions {
  json?: true | undefined;
  anyway?: true | undefined;
  as?: string | undefined;
  device?: string | undefined;
  wait: string;
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "send",
    summary: "Type a message into a session and submit it. Exits with 0 once it is submitted or typed.",
    examples: ['svc send svc-app "run the tests"', "git diff | svc send svc-app -"],
  })
    .argument("<session>", "the session's name, as in svc sessions")
    .argument("[text...]", "the message; read from stdin when it is - or missing")
    .option("--json", "print the push with its final receipt as JSON")
    .option("--device <id>", "the host's device id, when several hosts have a session of this name")
    .option(
      "--as <file>",
      "seal as the script paired by svc pair --script FILE (default: the file in SVC_PAIRING)",
    )
    .option("--anyway", "do not wait while someone is typing at the computer")
    .option("--wait <seconds>", "how long the message may wait for its turn", String(WAIT_DEFAULT_SECONDS));
  const parsed = parseOptions(command, args);
  const [session, parts] = parsed.processedArgs;
  const options: SendOptions = parsed.opts();
  checkTarget(session, options);
  const body = await messageText(parts);
  if (body === "") throw new UsageError("Cannot send an empty message: give its text, or pipe it in with -.");
  refuseLong(body);
  const route = await routeFor(options, pushFor(session, body, options));
  const record = await sendAndWait(options, route);
  // The relay may have the text only sealed.
  if (options.json) printJson({ ...record, push: { ...record.push, body } });
  if (!await route.isProven(record)) {
    printError(withMore(record.receipt, "Only the relay says so; the host has not confirmed it."));
    return EXIT_FAILED;
  }
  return report(record.receipt, options);
}

/** Throws UsageError for a session or device of a wrong form: the relay would answer with the names of fields. */
function checkTarget(session: string, { device }: SendOptions): void {
  if (!isSessionName(session)) {
    throw new UsageError(`Cannot send to "${session}": no session has such a name. ${NEXT.no_such_session}`);
  }
  if (device === undefined || DeviceId.safeParse(device).success) return;
  throw new UsageError(`Cannot send to "${device}": a device's id starts with dev_. See: svc devices`);
}

/** Reading stops there: a message is much shorter, even before its line ends are counted once. */
const STDIN_MAX_BYTES = 1_048_576;

async function messageText(parts: readonly string[]): Promise<string> {
  const isFromStdin = parts.length === 0 || (parts.length === 1 && parts[0] === "-");
  if (!isFromStdin) return parts.join(" ");
  if (runtime.terminal.isInputTerminal()) {
    printError("Reading the message from this terminal. End it with Ctrl-D.");
  }
  const text = await runtime.terminal.readAll({ strict: true, maxBytes: STDIN_MAX_BYTES }).catch((error) => {
    if (error instanceof RangeError) throw new UsageError(tooLong(`more than ${STDIN_MAX_BYTES}`));
    if (!(error instanceof TypeError)) throw error;
    // Replacement characters would be typed unnoticed.
    throw new UsageError(
      "Cannot send the message: it is not UTF-8. Convert it with iconv, or put it into a file on the host and send its name.",
    );
  });
  return text.replace(/\r?\n$/, "");
}

/** Throws UsageError for a text that is too long: the relay's refusal of a sealed one would name the sealed length. */
function refuseLong(body: string): void {
  const bytes = utf8Length(body);
  if (bytes <= BODY_MAX_BYTES) return;
  throw new UsageError(tooLong(String(bytes)));
}

function tooLong(size: string): string {
  return `Cannot send the message: it has ${size} bytes, and at most ${BODY_MAX_BYTES} can be sent. Shorten it, or put it into a file on the host and send its name.`;
}

type PlainPush = PushRequestInput & { id: string; body: string; ttlSeconds: number };

/** What is sent, through which relay, and how the host confirms the outcome. */
interface Route {
  api: RelayApi;
  push: PushRequestInput;
  isProven(record: PushRecord): Promise<boolean>;
}

/** Sealed as a paired script, sealed by this host for itself, or plain. */
async function routeFor(options: SendOptions, push: PlainPush): Promise<Route> {
  const file = options.as ?? runtime.env.get("SVC_PAIRING");
  if (file) return await scriptRoute(file, { options, push });
  const paths = await accountPaths();
  const api = scriptApi(paths, await addressInputs(paths));
  const host = await pairingHost(paths, api);
  const { targetDeviceId = host.deviceId } = push;
  const sealer = targetDeviceId === host.deviceId ? await ownSealer(host) : undefined;
  if (sealer === undefined) return { api, push, isProven: () => Promise.resolve(true) };
  if (push.targetDeviceId === undefined) await checkIsOwn(api, { push, deviceId: host.deviceId });
  return { api, push: await sealCommand(push, sealer), isProven: provenWith(sealer) };
}

/** Accepts a receipt without the host's proof only for the states that the relay itself decides. */
function provenWith(pairing: Parameters<typeof isProvenReceipt>[0]): Route["isProven"] {
  return async ({ push: { id }, receipt }) =>
    RELAY_STATES.has(receipt.state) || await isProvenReceipt(pairing, { id, receipt });
}

async function scriptRoute(
  file: string,
  { options, push }: { options: SendOptions; push: PlainPush },
): Promise<Route> {
  const path = absolutePath(file, runtime.cwd());
  const script = await nextScriptCounter(runtime.files, path);
  if (options.device !== undefined && options.device !== script.host.deviceId) {
    throw new UsageError(
      `Cannot send to "${options.device}": "${file}" is paired with "${script.host.deviceId}".`,
    );
  }
  return {
    api: createRelayApi(script),
    push: await sealCommand(push, scriptSealer(script)),
    isProven: provenWith(script),
  };
}

/**
 * This host seals only for itself. Throws UsageError when the relay reports the session on another host; a false report
 * gains it no text. Checks nothing with a key that may only send.
 */
async function checkIsOwn(
  api: RelayApi,
  { push: { agentSessionName: session }, deviceId }: { push: PlainPush; deviceId: string },
): Promise<void> {
  const devices = await devicesOf(api);
  const others = devices.filter((device) =>
    device.deviceId !== deviceId && device.sessions.some(({ name }) => name === session)
  );
  if (others.length === 0) return;
  const named = others.map((other) => `"${other.deviceId}"`).join(" and ");
  const own = devices.find((device) => device.deviceId === deviceId);
  const isHere = own?.sessions.some(({ name }) => name === session) === true;
  const choice = isHere
    ? `Add --device ${deviceId} for this host, or the other's id`
    : "This host has none. Add --device with the other's id";
  throw new UsageError(
    `Cannot send to "${session}": ${named} has a session of this name. ${choice}; the relay can read what goes there, and a paired host takes it with --as only.`,
  );
}

async function devicesOf(api: RelayApi): Promise<SessionsAnswer["devices"]> {
  try {
    return (await api.sessions()).devices;
  } catch (error) {
    if (error instanceof RelayError && error.code === "missing_scope") return [];
    throw error;
  }
}

function pushFor(session: string, body: string, options: SendOptions): PlainPush {
  return {
    id: crypto.randomUUID(),
    type: "agent.command",
    agentSessionName: session,
    body,
    ttlSeconds: waitSeconds(options),
    ...(options.device === undefined ? {} : { targetDeviceId: options.device }),
    ...(options.anyway ? { data: { sendAnyway: true } } : {}),
  };
}

/** Also the message's time to live, so that a message given up on here is not typed later. */
function waitSeconds({ wait }: SendOptions): number {
  const seconds = /^\d+$/.test(wait) ? Number(wait) : 0;
  if (seconds >= TTL_MIN_SECONDS && seconds <= TTL_MAX_SECONDS) return seconds;
  throw new UsageError(
    `Cannot wait "${wait}" seconds: --wait takes a whole number from ${TTL_MIN_SECONDS} to ${TTL_MAX_SECONDS}.`,
  );
}

/**
 * Sends the push, and again while its answer is missing: the relay may have it, and stores it only once because of its
 * id. A refusal is final, even one with Retry-After, unless an answer was lost before it.
 */
export async function sendOnce(
  api: Pick<RelayApi, "sendPush">,
  push: PushRequestInput,
  clock: Clock = systemClock,
): Promise<PushAccepted> {
  const until = clock.elapsed() + RESEND_FOR_MS;
  let mayBeStored = false;
  const isTransient = (error: unknown): boolean => {
    if (!(error instanceof RelayError) || !error.transient) return false;
    const { status, retryAfterSeconds } = error;
    mayBeStored ||= status !== 429 && retryAfterSeconds === undefined;
    return mayBeStored && clock.elapsed() + (retryAfterSeconds ?? 0) * 1_000 < until;
  };
  return await retry(() => api.sendPush(push), { isTransient, backoff: RESEND, clock });
}

async function sendAndWait(options: SendOptions, { api, push }: Route): Promise<PushRecord> {
  const { id } = await sendOnce(api, push);
  const patientUntil = Date.now() + PATIENCE_MS;
  let shown = "";
  return await waitForReceipt(api, id, {
    timeoutMs: waitSeconds(options) * 1_000 + GRACE_MS,
    onRecord({ receipt }) {
      const line = describe(receipt);
      if (receipt.final || line === shown || Date.now() < patientUntil) return;
      printError(line);
      shown = line;
    },
  });
}

/** True if the text is in the pane for good: before the receipt is final, it may be removed again. */
export function hasArrived({ state, final }: Pick<Receipt, "state" | "final">): boolean {
  return final && (state === "submitted" || state === "typed");
}

/** Prints the receipt and returns the exit code: 0 only when the text is in the pane. */
function report(receipt: Receipt, options: SendOptions): number {
  const isTyped = hasArrived(receipt);
  if (isTyped && !options.json) print(describe(receipt));
  if (!isTyped) {
    printError(
      receipt.final ? describe(receipt) : withMore(receipt, "There was no final answer in time."),
    );
  }
  return isTyped ? 0 : EXIT_FAILED;
}

/** Advice after a refusal for which a command helps. */
const NEXT: Partial<Record<string, string>> = {
  no_such_session: "For a list of sessions, run: svc sessions",
  ambiguous_session:
    "For the servers, run on its host: svc verify. Then rename one of the two: tmux -S SERVER rename-session -t NAME NEW-NAME",
  muted: "To undo that, run on its host, in the project's directory: svc unmute",
  sealed_required: "Run on its host: svc pair --script FILE. Then, with that file: svc send --as FILE",
  unsealable: "Pair the script again on its host: svc pair --script FILE",
  counter_used:
    "If the file was copied or restored, pair the script again on its host: svc pair --script FILE",
  counter_old: "Send it again.",
} satisfies Partial<Record<Reason, string>>;

/** The receipt's line as a sentence of its own, followed by `more`. */
export function withMore(receipt: Receipt, more: string): string {
  const line = describe(receipt);
  return `${line}${line.endsWith(".") ? "" : "."} ${more}`;
}

/** A receipt in one line, with what the user can do about it. */
export function describe({ state, reason, retryAfterSeconds }: Receipt): string {
  if (reason === undefined) return state;
  const sentence = Object.hasOwn(REASONS, reason) ? REASONS[reason as Reason] : inLine(reason);
  const retry = retryAfterSeconds === undefined ? "" : ` Try again in ${retryAfterSeconds} s.`;
  const next = Object.hasOwn(NEXT, reason) ? ` ${NEXT[reason]}` : "";
  return `${state} (${inLine(reason)}): ${sentence}${retry}${next}`;
}
