/** `svc send`: a message into a session, as the phone sends it, and what becomes of it. */
import { runtime } from "#runtime";
import { createRelayApi, type RelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import { waitForReceipt } from "../client/wait_for_receipt.ts";
import {
  isProvenReceipt,
  nextScriptCounter,
  ownSealer,
  scriptSealer,
  sealCommand,
} from "../home/script_pairing.ts";
import { TTL_MAX_SECONDS, TTL_MIN_SECONDS } from "../protocol/limits.ts";
import type { PushRecord, PushRequestInput } from "../protocol/push.ts";
import { type PushState, type Reason, REASONS, type Receipt } from "../protocol/receipt.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { EXIT_FAILED, UsageError } from "./exit.ts";
import { PATIENCE_MS, print, printError, printJson } from "./output.ts";
import { addressInputs, pairingHost, relayApi } from "./settings.ts";

const WAIT_DEFAULT_SECONDS = 60;
/** Final states that the relay itself may report. */
const RELAYS_OWN: ReadonlySet<PushState> = new Set(["queued", "expired", "unknown"]);
/** The relay's word that a message expired may come this much later, in milliseconds. */
const GRACE_MS = 5_000;

interface SendWords {
  json?: true | undefined;
  anyway?: true | undefined;
  as?: string | undefined;
  device?: string | undefined;
  wait: string;
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "send",
    summary: "Type a message into a session and submit it. Exits 0 once it is submitted or typed.",
    examples: ['svc send svc-app "run the tests"', "git diff | svc send svc-app -"],
  })
    .argument("<session>", "the session's name, as svc sessions lists it")
    .argument("[text...]", "the message; from stdin with - or without any")
    .option("--json", "print the push with its final receipt")
    .option("--device <id>", "the host, where several have a session of this name")
    .option("--as <file>", "seal as the script of svc pair --script FILE; else SVC_PAIRING names the file")
    .option("--anyway", "do not wait while someone types at the computer")
    .option("--wait <seconds>", "how long the message may wait for its turn", String(WAIT_DEFAULT_SECONDS));
  const parsed = parseOptions(command, args);
  const [session, words] = parsed.processedArgs;
  const options: SendWords = parsed.opts();
  const body = await messageText(words);
  if (body === "") throw new UsageError("Cannot send an empty message: give its text, or pipe it in with -.");
  const route = await routeFor(options, pushFor(session, body, options));
  const record = await sendAndWait(options, route);
  // The relay has the text sealed, or as it was typed here.
  if (options.json) printJson({ ...record, push: { ...record.push, body } });
  if (!await route.isProven(record)) {
    printError(`${describe(record.receipt)} The relay says so; the host has not proven it.`);
    return EXIT_FAILED;
  }
  return report(record.receipt, options);
}

async function messageText(words: readonly string[]): Promise<string> {
  const isFromStdin = words.length === 0 || (words.length === 1 && words[0] === "-");
  if (!isFromStdin) return words.join(" ");
  if (runtime.terminal.isInputTerminal()) {
    printError("Reading the message from this terminal; end it with Ctrl-D.");
  }
  return (await runtime.terminal.readAll()).replace(/\r?\n$/, "");
}

type PlainPush = PushRequestInput & { body: string; ttlSeconds: number };

/** What is sent, through which relay, and whether the host itself confirms the outcome. */
interface Route {
  api: RelayApi;
  push: PushRequestInput;
  isProven(record: PushRecord): Promise<boolean>;
}

/** Sealed as a paired script, sealed by the host for itself, or plain. */
async function routeFor(options: SendWords, push: PlainPush): Promise<Route> {
  const file = options.as ?? runtime.env.get("SVC_PAIRING");
  if (file) return await scriptRoute(file, { options, push });
  const paths = await accountPaths();
  const api = relayApi(paths, await addressInputs(paths));
  const host = await pairingHost(paths, api);
  const isOwn = await isForOwnHost(api, { push, deviceId: host.deviceId });
  const sealer = isOwn ? await ownSealer(host) : undefined;
  const sealed = sealer === undefined ? push : await sealCommand(push, sealer);
  return { api, push: sealed, isProven: () => Promise.resolve(true) };
}

async function scriptRoute(
  file: string,
  { options, push }: { options: SendWords; push: PlainPush },
): Promise<Route> {
  const path = file.startsWith("/") ? file : `${runtime.cwd()}/${file}`;
  const script = await nextScriptCounter(runtime.files, path);
  if (options.device !== undefined && options.device !== script.host.deviceId) {
    throw new UsageError(
      `Cannot send to "${options.device}": "${file}" is paired with "${script.host.deviceId}".`,
    );
  }
  return {
    api: createRelayApi(script),
    push: await sealCommand(push, scriptSealer(script)),
    isProven: async ({ push: { id }, receipt }) =>
      RELAYS_OWN.has(receipt.state) || await isProvenReceipt(script, { id, receipt }),
  };
}

/** Only this host's own messages can be sealed with what it has. */
async function isForOwnHost(
  api: RelayApi,
  { push, deviceId }: { push: PlainPush; deviceId: string },
): Promise<boolean> {
  if (push.targetDeviceId !== undefined) return push.targetDeviceId === deviceId;
  try {
    const { devices } = await api.sessions();
    const owners = devices.filter(({ sessions }) =>
      sessions.some(({ name }) => name === push.agentSessionName)
    );
    const isListed = devices.some((device) => device.deviceId === deviceId);
    return owners.length === 0 ? isListed : owners.every((device) => device.deviceId === deviceId);
  } catch (error) {
    if (error instanceof RelayError) return false;
    throw error;
  }
}

function pushFor(session: string, body: string, options: SendWords): PlainPush {
  return {
    type: "agent.command",
    agentSessionName: session,
    body,
    ttlSeconds: waitSeconds(options),
    ...(options.device === undefined ? {} : { targetDeviceId: options.device }),
    ...(options.anyway ? { data: { sendAnyway: true } } : {}),
  };
}

/** It is the message's time to live as well: what was given up on here is not typed later. */
function waitSeconds({ wait }: SendWords): number {
  const seconds = /^\d+$/.test(wait) ? Number(wait) : 0;
  if (seconds >= TTL_MIN_SECONDS && seconds <= TTL_MAX_SECONDS) return seconds;
  throw new UsageError(
    `Cannot wait "${wait}" seconds: --wait takes a whole number from ${TTL_MIN_SECONDS} to ${TTL_MAX_SECONDS}.`,
  );
}

async function sendAndWait(options: SendWords, { api, push }: Route): Promise<PushRecord> {
  const { id } = await api.sendPush(push);
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

/** 0 only when the text is in the pane. */
function report(receipt: Receipt, options: SendWords): number {
  const isTyped = receipt.state === "submitted" || receipt.state === "typed";
  if (isTyped && !options.json) print(describe(receipt));
  if (!isTyped) {
    printError(receipt.final ? describe(receipt) : `${describe(receipt)} No final answer in time.`);
  }
  return isTyped ? 0 : EXIT_FAILED;
}

/** What to run after a refusal, where a command helps. */
const NEXT: Partial<Record<string, string>> = {
  no_such_session: "Those that there are: svc sessions",
  muted: "To undo that, on its host in the project's directory: svc unmute",
  sealed_required: "Run there: svc pair --script FILE. Then, with that file: svc send --as FILE",
  unsealable: "Pair the script again, on its host: svc pair --script FILE",
  counter_used:
    "If the file was copied or restored, pair the script again, on its host: svc pair --script FILE",
  counter_old: "Send it again.",
} satisfies Partial<Record<Reason, string>>;

/** A receipt in one line, with what a person can do about it. */
export function describe({ state, reason, retryAfterSeconds }: Receipt): string {
  if (reason === undefined) return state;
  const sentence = Object.hasOwn(REASONS, reason) ? REASONS[reason as Reason] : reason;
  const retry = retryAfterSeconds === undefined ? "" : ` Try again in ${retryAfterSeconds} s.`;
  const next = Object.hasOwn(NEXT, reason) ? ` ${NEXT[reason]}` : "";
  return `${state} (${reason}): ${sentence}${retry}${next}`;
}
